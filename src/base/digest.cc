// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>

namespace cronlatch {
namespace {

// The low-level calls are deprecated in OpenSSL 3.0, but the EVP ones fetch algorithms first, which
// costs a millisecond at every start; the digest is a name and needs no security.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
std::array<unsigned char, SHA256_DIGEST_LENGTH> sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, text.data(), text.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}
#pragma GCC diagnostic pop

}  // namespace

std::string short_digest(std::string_view text, std::size_t digits) {
  const auto digest = sha256(text);
  std::string out;
  for (std::size_t i = 0; i < std::min(digits, 2 * digest.size()); ++i)
    out += "0123456789abcdef"[i % 2 == 0 ? digest[i / 2] >> 4U : digest[i / 2] & 0xFU];
  return out;
}

}  // namespace cronlatch
