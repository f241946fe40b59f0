// SPDX-License-Identifier: Apache-2.0
// The file store: locks of one host, in a directory. The kernel's flock(2) decides which process
// holds a lock. The record contains what the kernel does not store: fence, counters, min-hold, run
// identities. There is no lease and nothing to renew.
//
//   <name>.lock   the kernel lock. The command inherits it, so it is held until the command's
//                 processes end. A lock with a path in its name (core/lock_file.h) has the kernel
//                 lock on that file instead.
//   <name>.<slot>.slot
//                 the kernel lock of slot 2 and higher, for runs with the option slots. The record
//                 has the grants of all slots, and is written with another version meanwhile.
//   <name>.rec    the record. Only a process with the mutex writes it.
//   <name>.mutex  a second kernel lock, held during one read and write of the record. Taken first.
//
// Crashes: when a holder dies, the kernel releases its lock, the record still contains "held", and
// the next grant counts it as stolen. When a process dies with the mutex, the kernel releases it.
// When the record cannot be written, nothing is granted.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "core/lock_stats.h"

namespace cronlatch {

using WallClock = std::function<ServerTime()>;  // this host's wall clock is the store's clock
ServerTime host_wall_clock();

// Code::config for a path that is not plain and absolute. This function does not touch the file
// system: the first request creates and checks the directory (store/file/directory.h). Reading the
// statistics creates nothing.
Result<std::unique_ptr<Backend>> open_file_store(const std::string& directory,
                                                 WallClock clock = host_wall_clock);

}  // namespace cronlatch
