// SPDX-License-Identifier: Apache-2.0
// The operator as a function: command line in, exit code out. main.cc calls it with the arguments
// and the environment of the process; tests call it with shorter timeouts, which users cannot set.
#pragma once

#include <string>
#include <vector>

#include "operator/command_line.h"
#include "operator/server_timeouts.h"

namespace cronlatch::op {

// `arguments` without the program's name. Blocks SIGTERM and SIGINT and waits for them. Call it
// before the first thread is started.
int run_operator(const std::vector<std::string>& arguments, const EnvironmentVariable& environment,
                 const ServerTimeouts& timeouts);

}  // namespace cronlatch::op
