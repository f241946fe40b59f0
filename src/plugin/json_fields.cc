// SPDX-License-Identifier: Apache-2.0
#include "plugin/json_fields.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "kube/controller_of.h"

namespace cronlatch::plugin {

using kube::Json;
using kube::string_at;

namespace {
constexpr std::size_t kMaxPrintable = 300;
}

std::string printable_at(const Json& object, Path path) {
  return printable(string_at(object, path), kMaxPrintable);
}

std::optional<WallTime> time_at(const Json& object, Path path) {
  return parse_rfc3339(string_at(object, path));
}

std::string owner_name(const Json& object, std::string_view kind) {
  const Json* const controller = kube::controller_of(object, kind);
  return controller == nullptr ? "" : string_at(*controller, {"name"});
}

}  // namespace cronlatch::plugin
