// SPDX-License-Identifier: Apache-2.0
#include "terminal/table.h"

#include <algorithm>

#include "base/text.h"
#include "options/options.h"

namespace cronlatch {
namespace {

std::string cell(const std::string& text) { return text.empty() ? "-" : printable(text); }

// Characters, not bytes; wide characters are not measured.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Result<Format> parse_format(std::string_view text) {
  if (text == "table") return Format::table;
  if (text == "json") return Format::json;
  return Error{Code::usage, "unknown output format " + quoted(text), "use -o table or -o json"};
}

std::string render_table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(cell(row[i])));
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = cell(row[i]);
      out += text;
      if (i + 1 < row.size()) out.append(widths[i] - width(text) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace cronlatch
