// SPDX-License-Identifier: Apache-2.0
#include "config/digest.h"

#include <openssl/sha.h>

#include <array>

namespace cronlatch {
namespace {

constexpr std::size_t kDigestBytesShown = 8;

// The low-level calls are deprecated in OpenSSL 3.0, but the EVP ones fetch algorithms first, which
// costs a millisecond at every start; the digest only names something.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
std::array<unsigned char, SHA256_DIGEST_LENGTH> sha256(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, text.data(), text.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}
#pragma GCC diagnostic pop

}  // namespace

std::string short_digest(const std::string& text) {
  const auto digest = sha256(text);
  std::string digits;
  for (std::size_t i = 0; i < kDigestBytesShown; ++i) {
    digits += "0123456789abcdef"[digest[i] >> 4U];
    digits += "0123456789abcdef"[digest[i] & 0xFU];
  }
  return digits;
}

}  // namespace cronlatch
