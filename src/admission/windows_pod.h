// SPDX-License-Identifier: Apache-2.0
// Pods that run on Windows nodes only. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"

namespace cronlatch::op {

// The fields of the pod spec that require a Windows node.
std::vector<std::string> windows_fields(const kube::Json& pod_spec);

}  // namespace cronlatch::op
