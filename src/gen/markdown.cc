// SPDX-License-Identifier: Apache-2.0
#include "gen/markdown.h"

#include <algorithm>

namespace cronlatch::gen {

std::string generated_from(std::string_view source) {
  return "<!-- Rendered from " + std::string(source) + " by `./dev gen`. Do not edit. -->\n";
}

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) {
    out += ' ';
    for (const char c : cell) out += c == '|' ? "\\|" : std::string(1, c);
    out += " |";
  }
  return out + "\n";
}

std::string header(const std::vector<std::string>& cells) {
  return row(cells) + row(std::vector<std::string>(cells.size(), "---"));
}

std::string wrapped(std::string_view text) {
  constexpr std::size_t kColumns = 120;
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    if (!out.empty()) {
      const bool fits = column + 1 + size <= kColumns;
      out += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    out += text.substr(0, size);
    column += size;
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return out;
}

std::string default_cell(const Option& option) {
  return option.fallback.empty() ? std::string(option.fallback_note) : code(option.fallback);
}

}  // namespace cronlatch::gen
