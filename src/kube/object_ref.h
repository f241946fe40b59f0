// SPDX-License-Identifier: Apache-2.0
// References to objects of the API.
#pragma once

#include <string>
#include <string_view>

#include "kube/json.h"

namespace cronlatch::kube {

struct ObjectKey {
  std::string namespace_name, name;
  auto operator<=>(const ObjectKey&) const = default;
};
ObjectKey key_of(const Json& object);

// With kind and UID, as in Events and owner references.
struct ObjectRef {
  std::string api_version, kind, namespace_name, name, uid;
  bool operator==(const ObjectRef&) const = default;
};

// The controlling owner of that kind; an empty name without one.
ObjectRef owner_of(const Json& object, std::string_view kind);

}  // namespace cronlatch::kube
