// SPDX-License-Identifier: Apache-2.0
// The command line after the subcommand: flags of the option table, flags of one subcommand, and
// the operands.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/setting.h"

namespace cronlatch {

// The operands of a subcommand.
enum class Operands {
  nothing,           // config, ls, metrics
  command,           // run: `-- COMMAND [ARG...]`, required
  optional_command,  // explain
  name,              // show, release: one word
};

// A flag that one subcommand has and that is no option: "-o" (takes a value), "--force" (does not).
struct ExtraFlag {
  std::string_view name;
  std::string_view value{};  // "table|json", as the help displays it; empty: a switch
  std::string_view help{};
  bool takes_value() const { return !value.empty(); }
};

struct Flags {
  std::vector<Setting> settings;
  std::map<std::string, std::string, std::less<>> extras;  // name -> value; "" for one without
  std::vector<std::string> operands;
};

// `--key value`, `--key=value`, `--key` for a switch; `--` ends the options. Code::usage for
// anything else, and for a flag that is given twice.
Result<Flags> parse_flags(std::span<const std::string> args, Operands operands,
                          std::span<const ExtraFlag> extras);

}  // namespace cronlatch
