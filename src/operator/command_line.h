// SPDX-License-Identifier: Apache-2.0
// The command line, and the settings file that it names. Starts nothing.
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
  std::string_view print;  // text to print instead of running; "": run
};

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

// The error contains the file, the line and the key. POD_NAMESPACE overrides the namespace in the
// file.
Result<Settings> read_settings(const std::string& path, const EnvironmentVariable& environment);

}  // namespace cronlatch::op
