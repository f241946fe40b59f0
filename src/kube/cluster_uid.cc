// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster_uid.h"

namespace cronlatch::kube {

Result<std::string> short_cluster_uid(Api& api) {
  constexpr std::size_t kDigits = 8;
  const auto answer = api.call({.path = "/api/v1/namespaces/kube-system"});
  if (!answer) return answer.error();
  if (!answer->ok()) return Error{Code::config, answer->error_text()};
  const std::string uid = string_at(answer->body, {"metadata", "uid"});
  if (uid.size() < kDigits || uid.find_first_not_of("0123456789abcdef-") != std::string::npos)
    return Error{Code::config, "the namespace kube-system has no UID"};
  return uid.substr(0, kDigits);
}

}  // namespace cronlatch::kube
