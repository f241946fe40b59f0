// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/field_times.h"

#include <algorithm>

#include "base/rfc3339.h"

namespace cronlatch::op {
namespace {

using kube::Json;

const std::vector<Json>& entries(const Json& object) {
  return kube::items_at(object, {"metadata", "managedFields"});
}

WallTime time_of(const Json& entry) {
  return parse_rfc3339(kube::string_at(entry, {"time"})).value_or(WallTime{});
}

bool owns_annotation(const Json& entry, std::initializer_list<std::string_view> path,
                     const std::string& name) {
  const Json* at = kube::find(entry, {"fieldsV1"});
  for (const std::string_view key : path) {
    if (at == nullptr) return false;
    at = kube::find(*at, {"f:" + std::string(key)});
  }
  return at != nullptr && kube::find(*at, {"f:annotations", "f:" + name}) != nullptr;
}

}  // namespace

std::optional<WallTime> annotated_since(const Json& object,
                                        std::initializer_list<std::string_view> path,
                                        const std::string& name) {
  std::optional<WallTime> earliest;
  for (const Json& entry : entries(object))
    if (owns_annotation(entry, path, name) && (!earliest || time_of(entry) < *earliest))
      earliest = time_of(entry);
  return earliest;
}

bool annotated_after_creation(const Json& object, const std::string& name) {
  const auto created = parse_rfc3339(kube::string_at(object, {"metadata", "creationTimestamp"}));
  if (!created) return false;
  bool owned = false;
  for (const Json& entry : entries(object)) {
    if (!owns_annotation(entry, {"metadata"}, name)) continue;
    owned = true;
    // The request that created the object also wrote its spec. Times have a resolution of one
    // second.
    const bool created_it = kube::find(entry, {"fieldsV1", "f:spec"}) != nullptr;
    if (created_it && time_of(entry) <= *created) return false;
  }
  return owned;
}

std::optional<WallTime> suspension_changed(const Json& cronjob) {
  std::optional<WallTime> latest;
  for (const Json& entry : entries(cronjob)) {
    const Json* const spec = kube::find(entry, {"fieldsV1", "f:spec"});
    if (spec == nullptr || spec->size() != 1 || !spec->contains("f:suspend")) continue;
    if (!latest || time_of(entry) > *latest) latest = time_of(entry);
  }
  return latest;
}

std::optional<WallTime> containers_written(const Json& pod) {
  std::optional<WallTime> latest;
  for (const Json& entry : entries(pod)) {
    if (kube::find(entry, {"fieldsV1", "f:status", "f:containerStatuses"}) == nullptr) continue;
    if (!latest || time_of(entry) > *latest) latest = time_of(entry);
  }
  return latest;
}

}  // namespace cronlatch::op
