// SPDX-License-Identifier: Apache-2.0
// Help pages, rendered from the tables. Pure.
#pragma once

#include <string>

#include "cli/subcommand.h"

namespace cronlatch {

std::string help_page();                              // fits 24 lines of 80 columns
std::string help_page(const Subcommand& subcommand);  // `cronlatch NAME --help`

}  // namespace cronlatch
