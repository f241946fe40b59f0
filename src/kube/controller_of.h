// SPDX-License-Identifier: Apache-2.0
// Who made an object, and answers for it. Pure.
#pragma once

#include <string_view>

#include "kube/json.h"

namespace cronlatch::kube {

// Of metadata.ownerReferences the one of this kind with `controller: true`; nullptr where there is
// none. It lives in `object`.
const Json* controller_of(const Json& object, std::string_view kind);

}  // namespace cronlatch::kube
