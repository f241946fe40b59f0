// SPDX-License-Identifier: Apache-2.0
#include "kube/controller_of.h"

namespace cronlatch::kube {

const Json* controller_of(const Json& object, std::string_view kind) {
  for (const Json& owner : items_at(object, {"metadata", "ownerReferences"}))
    if (is_true(owner, {"controller"}) && string_at(owner, {"kind"}) == kind) return &owner;
  return nullptr;
}

}  // namespace cronlatch::kube
