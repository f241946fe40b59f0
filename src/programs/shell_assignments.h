// SPDX-License-Identifier: Apache-2.0
// A file of shell assignments, NAME=VALUE with the quotes of a POSIX shell. Nothing is executed: a
// line that only a shell can evaluate is an error. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch {

struct ShellAssignment {
  std::string name;
  std::string value;
  std::string where;  // "/etc/cronlock.conf:3"
};

// Code::config with file, line and text. `secret`: the variable whose value no message contains.
Result<std::vector<ShellAssignment>> parse_shell_assignments(const std::string& path,
                                                             std::string_view text,
                                                             std::string_view secret);

}  // namespace cronlatch
