// SPDX-License-Identifier: Apache-2.0
// What the kubelet starts in a container: its `command`, then its `args`. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/json.h"

namespace cronlatch::kube {

// Empty without `command`: then the image's ENTRYPOINT is the program.
std::vector<std::string> argv_of(const Json& container);

}  // namespace cronlatch::kube
