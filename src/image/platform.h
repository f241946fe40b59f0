// SPDX-License-Identifier: Apache-2.0
// The architectures that a pod can run on, by its own nodeSelector and node affinity. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"

namespace cronlatch::image {

// Those of `cluster` (the architectures of the cluster's nodes) that the pod's nodeSelector and
// required node affinity allow, and those that they name although no node has them yet. Sorted.
// Empty: such a pod is never scheduled.
std::vector<std::string> architectures(const kube::Json& pod_spec,
                                       const std::vector<std::string>& cluster);

}  // namespace cronlatch::image
