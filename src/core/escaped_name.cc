// SPDX-License-Identifier: Apache-2.0
#include "core/escaped_name.h"

namespace cronlatch {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

bool is_hex(char c) { return kHex.find(c) != std::string_view::npos; }

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/';
}

bool hex_follows(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
}

}  // namespace

std::string escape_name(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_plain(c) || (c == '_' && !hex_follows(text, i))) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += {'_', kHex[byte >> 4], kHex[byte & 15]};
  }
  return name;
}

std::string unescape_name(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_' && hex_follows(name, i)) {
      text += static_cast<char>(kHex.find(name[i + 1]) << 4 | kHex.find(name[i + 2]));
      i += 2;
    } else {
      text += name[i];
    }
  }
  return text;
}

}  // namespace cronlatch
