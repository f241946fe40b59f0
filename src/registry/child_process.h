// SPDX-License-Identifier: Apache-2.0
// One child process with an absolute deadline: started by posix_spawn, because the operator's other
// threads would be missing in a fork; in a process group of its own, which is killed as a whole.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::registry {

struct ChildSpec {
  std::vector<std::string> argv;         // argv[0] is the absolute path
  std::vector<std::string> environment;  // the whole of it
  TimePoint deadline;
  std::size_t most_output = 0;  // bytes of standard output; one more, and it is killed
  std::size_t memory = 0;       // RLIMIT_DATA in bytes
};

struct ChildEnd {
  int exit_code = 0;  // 128+n for a signal
  std::string out;
  std::string err;  // the end of it
};

// Blocks the calling thread until the child and its output have ended, the deadline has passed, or
// `stop` asks. Inherits nothing but standard streams and what the calling thread is confined to.
Result<ChildEnd> run_child(const ChildSpec& spec, const Clock& clock, const std::stop_token& stop);

}  // namespace cronlatch::registry
