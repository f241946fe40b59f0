// SPDX-License-Identifier: Apache-2.0
#include "gated/gated_container.h"

#include "kube/container_argv.h"
#include "labels/gate_argv.h"

namespace cronlatch {

const kube::Json* gated_container(const kube::Json& pod_spec) {
  for (const kube::Json& container : kube::items_at(pod_spec, {"containers"}))
    if (find_gate(kube::argv_of(container))) return &container;
  return nullptr;
}

}  // namespace cronlatch
