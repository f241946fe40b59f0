// SPDX-License-Identifier: Apache-2.0
// SHA-256 as registries write it, for tests that create images without a tool.
#pragma once

#include <openssl/evp.h>

#include <string>

namespace cronlatch::testing {

inline std::string sha256(const std::string& bytes) {  // 64 digits, without "sha256:"
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), hash, &size, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[hash[i] >> 4];
    hex += "0123456789abcdef"[hash[i] & 15];
  }
  return hex;
}

}  // namespace cronlatch::testing
