// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <openssl/md5.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <span>

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

std::array<unsigned char, MD5_DIGEST_LENGTH> md5(std::string_view text) {
  std::array<unsigned char, MD5_DIGEST_LENGTH> digest{};
  MD5_CTX context;
  MD5_Init(&context);
  MD5_Update(&context, text.data(), text.size());
  MD5_Final(digest.data(), &context);
  return digest;
}
#pragma GCC diagnostic pop

std::string hex(std::span<const unsigned char> bytes, std::size_t digits) {
  std::string out;
  for (std::size_t i = 0; i < std::min(digits, 2 * bytes.size()); ++i)
    out += "0123456789abcdef"[i % 2 == 0 ? bytes[i / 2] >> 4U : bytes[i / 2] & 0xFU];
  return out;
}

}  // namespace

std::string short_digest(std::string_view text, std::size_t digits) {
  return hex(sha256(text), digits);
}

std::string md5_hex(std::string_view text) {
  const auto digest = md5(text);
  return hex(digest, 2 * digest.size());
}

}  // namespace cronlatch
