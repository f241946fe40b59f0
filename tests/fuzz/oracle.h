// SPDX-License-Identifier: Apache-2.0
// Functions of the fuzz targets: they check an oracle and divide the input. libFuzzer records a
// finding only when the process aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

inline void must(bool holds, const char* sentence) {
  if (holds) return;
  std::fprintf(stderr, "broken oracle: %s\n", sentence);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// One line of printable text, as every message must be.
inline bool is_one_line(std::string_view text) {
  for (const char c : text)
    if (c == '\n' || c == '\r' || c == '\0' || c == '\x1b') return false;
  return true;
}

}  // namespace fuzz
