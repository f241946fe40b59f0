// SPDX-License-Identifier: Apache-2.0
// Help pages, rendered from the tables. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/subcommand.h"

namespace cronlatch {

std::string help_page();                              // fits 24 lines of 80 columns
std::string help_page(const Subcommand& subcommand);  // `cronlatch NAME --help`

// ---- for the manual page and the completions ----
std::string usage_of(const Subcommand& subcommand);  // "cronlatch show LOCK [options]"
std::vector<std::string_view> help_topics();         // without subcommands and programs
struct HelpEntry {
  std::string_view word, text;
};
std::span<const HelpEntry> command_variables();  // variables that the command receives

}  // namespace cronlatch
