// SPDX-License-Identifier: Apache-2.0
#include "gated/gated_container.h"

#include <algorithm>

#include "kube/container_argv.h"
#include "labels/gate_argv.h"

namespace cronlatch {

const kube::Json* gated_container(const kube::Json& pod_spec) {
  for (const kube::Json& container : kube::items_at(pod_spec, {"containers"}))
    if (find_gate(kube::argv_of(container))) return &container;
  return nullptr;
}

int exit_code_of(const kube::Json& terminated) {
  const std::int64_t code = kube::number_at(terminated, {"exitCode"}).value_or(0);
  return static_cast<int>(std::clamp<std::int64_t>(code, 0, 255));
}

}  // namespace cronlatch
