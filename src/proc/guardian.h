// SPDX-License-Identifier: Apache-2.0
// The guardian: a process between the wrapper and the command of a run with a lease. It is the
// parent of the command and the reaper of its orphaned descendants. It kills all of them
//   - when the wrapper ends first, in any way (SIGKILL),
//   - at the kill time of the lease, which a stopped wrapper does not move.
// It reports the command's changes to the wrapper and sends the wrapper's signals. It is this
// program, executed again without an environment: it has no password, no key and no connection
// (docs/decisions/0034-guardian.md).
#pragma once

#include <string>
#include <vector>

namespace cronlatch {

// argv of a guardian: its name, and the number of its end of the channel.
std::vector<std::string> guardian_argv(int channel);
bool is_guardian(int argc, char** argv);
// Call before anything else of the program.
[[noreturn]] void run_guardian(char** argv);

}  // namespace cronlatch
