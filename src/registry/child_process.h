// SPDX-License-Identifier: Apache-2.0
// One child process with an absolute deadline, in a process group of its own, which is killed as a
// whole. Started with posix_spawn(3): a fork of a program with threads may call only
// async-signal-safe functions until exec.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::registry {

struct ChildConfig {
  std::vector<std::string> argv;         // argv[0] is the absolute path
  std::vector<std::string> environment;  // complete: nothing is inherited
  TimePoint deadline;
  std::size_t max_output = 0;  // bytes of standard output; with one more the child is killed
  std::size_t memory = 0;      // RLIMIT_DATA in bytes
  std::string kill_at{};       // text in standard error at which the child is killed; "": none
};

struct ChildResult {
  int exit_code = 0;  // 128+n: killed by signal n
  std::string out;
  std::string err;  // the last 16 KiB
};

// Blocks until the child has exited and closed its output, the deadline has passed, or `stop` is
// requested. The child inherits only the standard streams and the calling thread's confinement.
Result<ChildResult> run_child_process(const ChildConfig& config, const Clock& clock,
                                      const std::stop_token& stop);

}  // namespace cronlatch::registry
