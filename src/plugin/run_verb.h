// SPDX-License-Identifier: Apache-2.0
// Runs one verb and prints its output; with --watch again after each change.
#pragma once

#include <functional>

#include "plugin/verb.h"

namespace cronlatch::plugin {

using Print = std::function<Status(const std::string& text)>;

// Returns the exit code. With --watch it returns only an error: of the first list, or of `print`. A
// later list that fails is reported, and repeated.
Result<int> run_verb(const Arguments& arguments, const Context& context, const Print& print);

}  // namespace cronlatch::plugin
