// SPDX-License-Identifier: Apache-2.0
#include "kube/object_ref.h"

#include "kube/controller_of.h"

namespace cronlatch::kube {

ObjectKey key_of(const Json& object) {
  return {string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"})};
}

ObjectRef owner_of(const Json& object, std::string_view kind) {
  const Json* const owner = controller_of(object, kind);
  if (owner == nullptr) return {};
  return {string_at(*owner, {"apiVersion"}), std::string(kind),
          string_at(object, {"metadata", "namespace"}), string_at(*owner, {"name"}),
          string_at(*owner, {"uid"})};
}

}  // namespace cronlatch::kube
