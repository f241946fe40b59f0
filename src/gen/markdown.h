// SPDX-License-Identifier: Apache-2.0
// The parts of a Markdown page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/options.h"

namespace cronlatch::gen {

// The comment below a page's title; `source` is the file of the table.
std::string generated_from(std::string_view source);
// `text` between backticks.
std::string code(std::string_view text);
// One row of a table. A | inside a cell is escaped.
std::string row(const std::vector<std::string>& cells);
// The first two rows of a table.
std::string header(const std::vector<std::string>& cells);
// `text` with a line break instead of a space wherever a line would exceed 120 columns.
std::string wrapped(std::string_view text);
// The default of an option: its text as code, else the note.
std::string default_cell(const Option& option);

}  // namespace cronlatch::gen
