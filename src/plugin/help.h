// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch help [COMMAND]`, rendered from the tables of verbs and flags.
#pragma once

#include <string>

#include "plugin/verb.h"

namespace cronlatch::plugin {

std::string help_text();                  // the overview
std::string help_text(const Verb& verb);  // `kubectl cronlatch NAME --help`

// Code::usage for an unknown command.
Result<Output> help(const Arguments& arguments, const Context& context);

}  // namespace cronlatch::plugin
