// SPDX-License-Identifier: Apache-2.0
// An independent parser of flat JSON objects: strings and whole numbers only. It shares no code
// with the writer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cronlatch {

// Members by key with the raw text of each value (a string keeps its quotes); nullopt when `text`
// is not such an object.
inline std::optional<std::map<std::string, std::string>> flat_json(std::string_view text) {
  std::size_t at = 0;
  const auto take = [&](char c) {
    return at < text.size() && text[at] == c ? (++at, true) : false;
  };
  const auto string = [&]() -> std::optional<std::string> {
    const std::size_t from = at;
    if (!take('"')) return std::nullopt;
    while (at < text.size() && text[at] != '"') {
      if (static_cast<unsigned char>(text[at]) < 0x20) return std::nullopt;
      if (text[at] == '\\') {
        ++at;
        if (at >= text.size()) return std::nullopt;
        if (text[at] == 'u') {
          for (int i = 1; i <= 4; ++i)
            if (at + 4 >= text.size() ||
                std::string_view("0123456789abcdefABCDEF")
                        .find(text[at + static_cast<std::size_t>(i)]) == std::string_view::npos)
              return std::nullopt;
          at += 4;
        } else if (std::string_view("\"\\/bfnrt").find(text[at]) == std::string_view::npos) {
          return std::nullopt;
        }
      }
      ++at;
    }
    if (!take('"')) return std::nullopt;
    return std::string(text.substr(from, at - from));
  };
  const auto number = [&]() -> std::optional<std::string> {
    const std::size_t from = at;
    take('-');
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at == from ? std::nullopt : std::optional(std::string(text.substr(from, at - from)));
  };
  std::map<std::string, std::string> members;
  if (!take('{')) return std::nullopt;
  do {
    const auto key = string();
    if (!key || !take(':')) return std::nullopt;
    const auto value = at < text.size() && text[at] == '"' ? string() : number();
    if (!value || !members.emplace(*key, *value).second) return std::nullopt;
  } while (take(','));
  if (!take('}') || at != text.size()) return std::nullopt;
  return members;
}

// Every byte belongs to a UTF-8 character, checked with a separate table.
inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) {
      return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
    };
    const unsigned lead = byte(i);
    const unsigned more = lead < 0x80          ? 0
                          : (lead >> 5U) == 6  ? 1
                          : (lead >> 4U) == 14 ? 2
                          : (lead >> 3U) == 30 ? 3
                                               : 9;
    if (more == 9) return false;
    unsigned code = more == 0 ? lead : lead & (0x3FU >> more);
    for (unsigned k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return false;
      code = (code << 6U) | (byte(i + k) & 0x3FU);
    }
    constexpr unsigned kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    i += more + 1;
  }
  return true;
}

}  // namespace cronlatch
