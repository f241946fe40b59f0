// SPDX-License-Identifier: Apache-2.0
// Whether a node is proven to mount images as volumes (KEP-4639) from which programs can be
// executed. Pure.
#pragma once

#include <string>

#include "kube/json.h"

namespace cronlatch::kube {

// "": the node is proven, or runs no pods of Linux: it is unschedulable, or a Windows node.
// Otherwise the reason: the version of its kubelet or container runtime. `node` is a Node (v1).
std::string why_no_image_volumes(const Json& node);

}  // namespace cronlatch::kube
