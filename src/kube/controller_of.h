// SPDX-License-Identifier: Apache-2.0
// The owner that controls an object. Pure.
#pragma once

#include <string_view>

#include "kube/json.h"

namespace cronlatch::kube {

// Of metadata.ownerReferences the one of this kind with `controller: true`; nullptr without one.
// The pointer is valid as long as `object`.
const Json* controller_of(const Json& object, std::string_view kind);

}  // namespace cronlatch::kube
