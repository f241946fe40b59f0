// SPDX-License-Identifier: Apache-2.0
#include "operator/digest.h"

#include <openssl/sha.h>

namespace cronlatch::op {

std::string digest(std::string_view text) {
  constexpr std::size_t kBytes = 10;
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < kBytes; ++i) out += {kHex[hash[i] >> 4], kHex[hash[i] & 15]};
  return out;
}

}  // namespace cronlatch::op
