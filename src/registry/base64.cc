// SPDX-License-Identifier: Apache-2.0
#include "registry/base64.h"

#include <openssl/evp.h>

namespace cronlatch::registry {

std::string base64(const std::string& bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and the NUL that is written behind
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace cronlatch::registry
