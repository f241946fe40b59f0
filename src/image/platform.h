// SPDX-License-Identifier: Apache-2.0
// On which architectures a pod may run, as far as it says so itself. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"

namespace cronlatch::image {

// Of `here` (what the cluster's nodes are) those that the pod's nodeSelector and its required node
// affinity leave; what they name counts even when no such node is known yet. Sorted. Empty when
// nothing is left: such a pod is never scheduled.
std::vector<std::string> architectures(const kube::Json& pod_spec,
                                       const std::vector<std::string>& here);

}  // namespace cronlatch::image
