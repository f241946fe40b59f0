// SPDX-License-Identifier: Apache-2.0
// ObjectRef: names one object of the API, as Events and owner references do.
#pragma once

#include <string>
#include <string_view>

#include "kube/json.h"

namespace cronlatch::kube {

struct ObjectRef {
  std::string api_version, kind, namespace_name, name, uid;
  bool operator==(const ObjectRef&) const = default;
};

// The controlling owner of that kind; an empty name where there is none.
ObjectRef owner_of(const Json& object, std::string_view kind);

}  // namespace cronlatch::kube
