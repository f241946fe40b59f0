// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/field_times.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "labels/names.h"

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

// Whether the only fields below `fields` are annotations of cronlatch.dev.
bool owns_only_cronlatch_annotations(const Json& fields) {
  const Json* const metadata = kube::find(fields, {"f:metadata"});
  if (metadata == nullptr) return true;
  const Json* const annotations = kube::find(*metadata, {"f:annotations"});
  if (metadata->size() != 1 || annotations == nullptr || !annotations->is_object()) return false;
  const auto items = annotations->items();
  return std::all_of(items.begin(), items.end(), [](const auto& field) {
    return field.key() == "." || field.key().starts_with("f:" + std::string(kPrefix));
  });
}

// Whether the client wrote nothing but annotations of cronlatch.dev, as `kubectl annotate` does,
// with the copies that the webhook adds.
bool annotated_only(const Json& entry) {
  const Json* const fields = kube::find(entry, {"fieldsV1"});
  if (fields == nullptr || !owns_only_cronlatch_annotations(*fields)) return false;
  const Json* const spec = kube::find(*fields, {"f:spec"});
  if (spec == nullptr) return true;
  const Json* const job_template = kube::find(*spec, {"f:jobTemplate"});
  return spec->size() == 1 && job_template != nullptr && job_template->size() == 1 &&
         job_template->contains("f:metadata") && owns_only_cronlatch_annotations(*job_template);
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

std::optional<WallTime> annotation_added(const Json& cronjob, const std::string& name) {
  std::optional<WallTime> earliest;
  for (const Json& entry : entries(cronjob)) {
    if (!owns_annotation(entry, {"metadata"}, name) &&
        !owns_annotation(entry, {"spec", "jobTemplate", "metadata"}, name))
      continue;
    if (!annotated_only(entry)) return std::nullopt;
    if (!earliest || time_of(entry) < *earliest) earliest = time_of(entry);
  }
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
