// SPDX-License-Identifier: Apache-2.0
#include "plugin/kubectl_json.h"

namespace cronlatch::plugin {

Result<kube::Json> parse_list(const KubectlResult& answer, std::string_view what) {
  auto list = kube::parse_json(answer.out, {.bytes = kMaxKubectlOutput});
  if (list) return list;
  return Error{Code::config,
               "kubectl's list of " + std::string(what) + " is invalid: " + list.error().message};
}

}  // namespace cronlatch::plugin
