// SPDX-License-Identifier: Apache-2.0
// Base64: decodes what a program encoded, and encodes logins.
#pragma once

#include <string>
#include <string_view>

namespace cronlatch {

inline std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : bytes) {
    bits = (bits << 8U | static_cast<unsigned char>(c)) & 0xFFFFU;
    for (count += 8; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63U];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63U];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

inline std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6U | static_cast<unsigned>(digit)) & 0xFFFFFFU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFFU);
  }
  return out;
}

}  // namespace cronlatch
