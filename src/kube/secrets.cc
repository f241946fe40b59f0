// SPDX-License-Identifier: Apache-2.0
#include "kube/secrets.h"

#include "base/base64.h"

namespace cronlatch::kube {

std::string secret_path(const std::string& namespace_name, const std::string& name) {
  return "/api/v1/namespaces/" + namespace_name + "/secrets/" + name;
}

std::string secret_value(const Json& secret, std::string_view key) {
  const std::optional<std::string> bytes = decode_base64(string_at(secret, {"data", key}));
  return bytes ? *bytes : "";
}

}  // namespace cronlatch::kube
