// SPDX-License-Identifier: Apache-2.0
// The parts of a manual page, in the macros of man(7). groff and mandoc read them.
#pragma once

#include <string>
#include <string_view>

namespace cronlatch::gen::troff {

// The first lines. `name` is that of the file without its section.
std::string page(std::string_view name, std::string_view summary, std::string_view source);
std::string section(std::string_view title);
// Sentences with the backticks of Markdown, which become bold; a line break is a blank.
std::string text(std::string_view text);
std::string paragraph(std::string_view text);  // after another one
std::string line_break();
// An indented text below a term. The term is bold, `value` behind it italic.
std::string item(std::string_view term, std::string_view value, std::string_view text);
// Further text of an item; a line that begins with a blank stays a line of its own.
std::string lines(std::string_view text);
// A line as it is, indented: a command. Several in sequence form a block.
std::string example(std::string_view line);
// "cronlatch run [options]": the command of a synopsis.
std::string synopsis(std::string_view command, std::string_view arguments);

}  // namespace cronlatch::gen::troff
