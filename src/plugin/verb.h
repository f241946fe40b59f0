// SPDX-License-Identifier: Apache-2.0
// The table of the plugin's commands, one row each. The parser, the help and a test of the
// documentation read it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plugin/arguments.h"
#include "plugin/context.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

struct Verb {
  std::string_view name, alias;
  std::string_view argument;  // "CRONJOB", as the help displays it; in brackets: optional
  std::string_view help;      // one line
  std::string_view details;   // further lines of `kubectl cronlatch NAME --help`
  std::string_view flags;     // long names, separated by spaces; kCommonFlags apply to every verb
  bool has_names;             // -o name is possible
  // Code::usage; Code::unreachable if kubectl returned an error, which it has printed itself.
  Result<Output> (*function)(const Arguments& arguments, const Context& context);

  bool accepts(std::string_view flag) const;
  bool requires_argument() const { return !argument.empty() && !argument.starts_with('['); }
};

inline constexpr std::string_view kCommonFlags = "--output --kubectl --help";

std::span<const Verb> verb_table();
const Verb* find_verb(std::string_view name);
std::string usage_of(const Verb& verb);  // "why CRONJOB"
std::string verb_names();                // "ls, describe, ..."

}  // namespace cronlatch::plugin
