// SPDX-License-Identifier: Apache-2.0
// "TRUSTED CERTIFICATE" blocks are left out: what they say about trust would have to be understood.
#include "store/redis/pem.h"

#include <array>
#include <cstdint>

namespace cronlatch::redis {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
constexpr std::int8_t kInvalid = -1;
constexpr std::int8_t kSkip = -2;

constexpr std::array<std::int8_t, 256> make_values() {
  std::array<std::int8_t, 256> values{};
  for (auto& value : values) value = kInvalid;
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  for (const char c : {' ', '\t', '\r', '\n', '='}) values[static_cast<unsigned char>(c)] = kSkip;
  return values;
}
constexpr std::array<std::int8_t, 256> kValues = make_values();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kSkip) continue;
    if (value == kInvalid) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xff));
  }
  return bytes;
}

std::optional<std::string> PemCertificates::next() {
  while (true) {
    const std::size_t begin = rest_.find(kBegin);
    if (begin == std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(begin + kBegin.size());
    const std::size_t end = rest_.find(kEnd);
    if (end == std::string_view::npos) return std::nullopt;
    std::optional<std::string> der = decode_base64(rest_.substr(0, end));
    rest_.remove_prefix(end + kEnd.size());
    if (der) return der;
  }
}

}  // namespace cronlatch::redis
