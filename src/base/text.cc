// SPDX-License-Identifier: Apache-2.0
// JSON and terminal escaping, edit distance.
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace cronlatch {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kCut = "...";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::string formatted(const char* format, unsigned value) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), format, value);
  return out.data();
}

// One character of JSON text; `c` is a whole UTF-8 character, or a byte that is none.
std::string json_character(std::string_view c, bool valid) {
  if (!valid) return std::string(kReplacement);
  if (c.size() > 1) return std::string(c);
  switch (c.front()) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
  }
  const auto byte = static_cast<unsigned char>(c.front());
  return byte < 0x20 || byte == 0x7F ? formatted("\\u%04x", byte) : std::string(c);
}

// Two-byte UTF-8 between U+0080 and U+009F: control characters that some terminals execute.
bool is_c1_control(std::string_view c) {
  return c.size() == 2 && c[0] == '\xC2' && static_cast<unsigned char>(c[1]) < 0xA0;
}

std::string printable_character(std::string_view c, bool valid) {
  if (valid && c.size() > 1 && !is_c1_control(c)) return std::string(c);
  if (c.front() == '\n') return "\\n";
  if (c.front() == '\r') return "\\r";
  if (c.front() == '\t') return "\\t";
  std::string out;
  for (const char raw : c) {
    const auto byte = static_cast<unsigned char>(raw);
    out += byte < 0x20 || byte >= 0x7F ? formatted("\\x%02x", byte) : std::string(1, raw);
  }
  return out;
}

// Calls `each(character, valid)` over the UTF-8 characters of `text` until it returns false.
template <class Each>
void for_each_character(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const std::size_t step = n == 0 ? 1 : n;
    if (!each(text.substr(0, step), n != 0)) return;
    text.remove_prefix(step);
  }
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t n = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (n == 0 || text.size() < n) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(n),
                   is_continuation))
    return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  // Overlong forms, the surrogates and everything above U+10FFFF are not UTF-8 (RFC 3629).
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return n;
}

bool is_control(std::string_view c) {
  const auto byte = static_cast<unsigned char>(c.front());
  return byte < 0x20 || byte == 0x7F || is_c1_control(c);
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view c, bool valid) {
    out += valid ? c : kReplacement;
    return true;
  });
  return out;
}

std::string json_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view c, bool valid) {
    out += json_character(c, valid);
    return true;
  });
  return out;
}

std::string json_quoted(std::string_view text) { return '"' + json_escaped(text) + '"'; }

std::string json_shortened(std::string_view text, std::size_t max_bytes) {
  std::string out;
  std::size_t keep = 0;  // how much of `out` leaves space for the mark of the cut
  bool cut = false;
  for_each_character(text, [&](std::string_view c, bool valid) {
    const std::string escaped = json_character(c, valid);
    cut = out.size() + escaped.size() > max_bytes;
    if (cut) return false;
    out += escaped;
    if (out.size() + kCut.size() <= max_bytes) keep = out.size();
    return true;
  });
  if (!cut) return out;
  out.resize(keep);
  if (out.size() + kCut.size() <= max_bytes) out += kCut;
  return out;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for_each_character(text, [&](std::string_view c, bool valid) {
    const std::string shown = printable_character(c, valid);
    if (out.size() + shown.size() > max_bytes) {
      out += kCut;
      return false;
    }
    out += shown;
    return true;
  });
  return out;
}

std::string quoted(std::string_view text, std::size_t max_bytes) {
  return '"' + printable(text, max_bytes) + '"';
}

std::string_view trimmed(std::string_view text, std::string_view characters) {
  const std::size_t begin = text.find_first_not_of(characters);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(characters) - begin + 1);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace cronlatch
