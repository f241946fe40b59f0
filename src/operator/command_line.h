// SPDX-License-Identifier: Apache-2.0
// What the operator's user asked for: the words of the command line, and the file of settings they
// name. Starts nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/settings.h"
#include "base/result.h"

namespace cronlatch::op {

using EnvironmentVariable = std::function<std::string(const std::string& name)>;  // "" when unset

struct CommandLine {
  std::string config = "/etc/cronlatch/operator.yaml";
  std::string_view print;  // instead of running
};

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

// The error names the file, the line and the key. POD_NAMESPACE goes before the file's namespace.
Result<Settings> read_settings(const std::string& path, const EnvironmentVariable& environment);

}  // namespace cronlatch::op
