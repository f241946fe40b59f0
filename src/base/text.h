// SPDX-License-Identifier: Apache-2.0
// UTF-8, JSON strings, escapes for terminals and edit distance. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch {

// Bytes of the UTF-8 character that `text` begins with (1 to 4), or 0 when it does not begin with
// one.
std::size_t utf8_length(std::string_view text);
// C0, DEL and C1 (U+0080 to U+009F); `c` is one UTF-8 character.
bool is_control(std::string_view c);

// `text` with U+FFFD in place of bytes that are not UTF-8.
std::string valid_utf8(std::string_view text);

// `text` as the inside of a JSON string, always valid JSON: bytes that are not UTF-8 become U+FFFD.
std::string json_escaped(std::string_view text);
std::string json_quoted(std::string_view text);
// json_escaped, but at most `max_bytes` long: a text that was cut ends in "...".
std::string json_shortened(std::string_view text, std::size_t max_bytes);

// `text` on one line for a terminal: control characters and invalid bytes become \n, \t, \xNN; a
// long text is cut at `max_bytes`.
std::string printable(std::string_view text, std::size_t max_bytes = std::string_view::npos);
// printable() in double quotes, cut at `max_bytes`: for values in messages.
std::string quoted(std::string_view text, std::size_t max_bytes = 80);

// Without these characters at both ends.
std::string_view trimmed(std::string_view text, std::string_view characters = " \t\n");

// Insertions, deletions, replacements and swaps of neighbors that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// A JSON array of strings, as in ["sh", "-c", "true"]. The error's message does not name the
// text's source.
Result<std::vector<std::string>> parse_json_strings(std::string_view text);
std::string show_json_strings(const std::vector<std::string>& strings);

// A JSON object of such arrays, as in {"amd64": ["/a"], "arm64": []}; each name once.
using StringLists = std::map<std::string, std::vector<std::string>>;
Result<StringLists> parse_json_string_lists(std::string_view text);
std::string show_json_string_lists(const StringLists& lists);

}  // namespace cronlatch
