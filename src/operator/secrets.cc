// SPDX-License-Identifier: Apache-2.0
// Base64 by OpenSSL, with its padding counted right.
#include "operator/secrets.h"

#include <openssl/evp.h>

namespace cronlatch::op {

std::string secret_path(const std::string& namespace_name, const std::string& name) {
  return "/api/v1/namespaces/" + namespace_name + "/secrets/" + name;
}

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

Result<std::string> from_base64(std::string_view text) {
  const Error wrong{Code::config, "not base64"};
  if (text.size() % 4 != 0) return wrong;
  std::string out(text.size() / 4 * 3 + 1, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return wrong;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  out.resize(static_cast<std::size_t>(size) - padding);
  return out;
}

std::string secret_value(const kube::Json& secret, std::string_view key) {
  const auto bytes = from_base64(kube::string_at(secret, {"data", key}));
  return bytes ? *bytes : "";
}

}  // namespace cronlatch::op
