// SPDX-License-Identifier: Apache-2.0
// Finds the executable of a command, as execvp does, but before the fork: the child then makes one
// call, and the error for a missing command is reported before anything is started.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/supervisor.h"

namespace cronlatch {

// PATH is taken from `env` (NAME=value), the environment the command will have. Code::exec_missing
// (127) when there is no such file, Code::exec_denied (126) when there is one that cannot be
// executed.
Result<Command> resolve_command(std::vector<std::string> argv, std::vector<std::string> env);

}  // namespace cronlatch
