// SPDX-License-Identifier: Apache-2.0
// The file store: locks of one host, in a directory. The kernel's flock(2) is the truth of who
// holds a lock; the record beside it keeps what the kernel cannot: fence, counters, min-hold, run
// identities. There is no lease and nothing to renew.
//
//   <name>.lock   the kernel lock, inherited by the command (heirloom), so that it lives as long as
//   the command's processes <name>.rec    the record; written by whoever holds <name>.mutex  a
//   second kernel lock, held for the moment of one read and write of the record, always taken first
//
// Crash rules: a holder that dies lets the kernel lock go, its record still says held, and the next
// grant counts it stolen. A process that dies with the mutex lets it go. A record that cannot be
// written grants nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "core/lock_stats.h"

namespace cronlatch {

using WallClock = std::function<ServerTime()>;  // this host's calendar is this store's clock
ServerTime host_wall_clock();

// Code::config for a path that is not plain and absolute. Nothing is touched here: the directory is
// made and judged (store/file/directory.h) when the first request is sent_at; reading the ledger
// makes nothing.
Result<std::unique_ptr<Backend>> open_file_store(const std::string& directory,
                                                 WallClock clock = host_wall_clock);

}  // namespace cronlatch
