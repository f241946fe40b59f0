// SPDX-License-Identifier: Apache-2.0
#include "operator/secrets.h"

#include "registry/base64.h"

namespace cronlatch::op {

std::string secret_path(const std::string& namespace_name, const std::string& name) {
  return "/api/v1/namespaces/" + namespace_name + "/secrets/" + name;
}

std::string secret_value(const kube::Json& secret, std::string_view key) {
  const auto bytes = registry::from_base64(kube::string_at(secret, {"data", key}));
  return bytes ? *bytes : "";
}

}  // namespace cronlatch::op
