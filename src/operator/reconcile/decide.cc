// SPDX-License-Identifier: Apache-2.0
// CronJobs: which annotations to copy, and which Events to record.
#include "operator/reconcile/decide.h"

#include "admission/annotation_copy.h"
#include "admission/annotations.h"
#include "admission/lock_request.h"
#include "base/rfc3339.h"
#include "labels/names.h"
#include "operator/reconcile/field_times.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

kube::ObjectRef reference_to(const Json& object, std::string_view kind) {
  return {"batch/v1", std::string(kind), string_at(object, {"metadata", "namespace"}),
          string_at(object, {"metadata", "name"}), string_at(object, {"metadata", "uid"})};
}

std::string keys_of(const AnnotationCopy& copy) {
  std::string keys;
  const auto add = [&keys](const std::string& key, std::string_view suffix) {
    if (key == kCopiedKeysAnnotation) return;
    if (!keys.empty()) keys += ", ";
    keys.append(key).append(suffix);
  };
  for (const auto& [key, value] : copy.set) add(key, "");
  for (const std::string& key : copy.remove) add(key, " (removed)");
  return keys.empty() ? std::string(kCopiedKeysAnnotation) : keys;
}

Json annotations_body(const Json& cronjob, Json annotations) {
  // The resourceVersion on which the decision is based. After a 409 the watch delivers a newer
  // object.
  return {{"apiVersion", "batch/v1"},
          {"kind", "CronJob"},
          {"metadata",
           {{"name", string_at(cronjob, {"metadata", "name"})},
            {"namespace", string_at(cronjob, {"metadata", "namespace"})},
            {"uid", string_at(cronjob, {"metadata", "uid"})},
            {"resourceVersion", string_at(cronjob, {"metadata", "resourceVersion"})}}},
          {"spec", {{"jobTemplate", {{"metadata", {{"annotations", std::move(annotations)}}}}}}}};
}

// Missing annotations are applied before others are removed, so that the lock is never missing in
// between. The removal is a separate merge patch: the copies of the webhook belong to the field
// manager of the client that sent the object.
PatchCronJob patch(const Json& cronjob, const AnnotationCopy& copy) {
  const kube::ObjectRef ref = reference_to(cronjob, "CronJob");
  kube::Request request{
      .method = kube::Method::patch,
      .path = "/apis/batch/v1/namespaces/" + ref.namespace_name + "/cronjobs/" + ref.name,
      .query = {{"fieldManager", std::string(kFieldManager)}}};
  if (!copy.set.empty()) {
    request.body = annotations_body(cronjob, Json(copy.wanted));
    request.patch_type = kube::PatchType::apply;
    // Overwrites only values that the annotation `mirrored` lists as copies.
    request.query.emplace_back("force", "true");
  } else {
    Json nulls = Json::object();
    for (const std::string& key : copy.remove) nulls[key] = nullptr;
    request.body = annotations_body(cronjob, std::move(nulls));
    request.patch_type = kube::PatchType::merge;
  }
  return {std::move(request), ref, keys_of(copy)};
}

// The annotations of future Jobs, after all copies.
Annotations annotations_of_jobs(const Json& cronjob, const AnnotationCopy& copy) {
  Findings findings;
  Annotations all = annotations_at(cronjob, {"spec", "jobTemplate", "metadata"},
                                   "spec.jobTemplate.metadata", findings);
  for (const auto& [name, value] : copy.set)
    if (name != kCopiedKeysAnnotation) all[name.substr(kPrefix.size())] = {value, name};
  for (const std::string& name : copy.remove)
    if (const auto at = all.find(name.substr(kPrefix.size())); at != all.end()) all.erase(at);
  return all;
}

std::optional<GatedCronJob> gated_facts(const Json& cronjob, const Annotations& all,
                                        const Settings& settings) {
  Findings findings;
  const std::string space = string_at(cronjob, {"metadata", "namespace"});
  const LockRequest request = read_lock_request(all, settings, space, findings);
  const auto lock = full_lock_name(request, space, string_at(cronjob, {"metadata", "name"}));
  if (!lock) return std::nullopt;
  const auto created = parse_rfc3339(string_at(cronjob, {"metadata", "creationTimestamp"}));
  GatedCronJob facts;
  facts.lock = *lock;
  facts.created = created.value_or(WallTime{});
  // No run is due while the CronJob is suspended.
  if (!request.alerts_when_overdue || kube::is_true(cronjob, {"spec", "suspend"})) return facts;
  facts.alert_after = request.alert_after;
  facts.schedule = string_at(cronjob, {"spec", "schedule"});
  facts.time_zone = string_at(cronjob, {"spec", "timeZone"});
  facts.resumed = suspension_changed(cronjob).value_or(WallTime{});
  facts.gated = annotation_added(cronjob, std::string(kLockAnnotation)).value_or(WallTime{});
  return facts;
}

LockDemand demand_of(const Json& cronjob, Annotations annotations, const Settings& settings) {
  LockDemand demand{string_at(cronjob, {"metadata", "uid"}), std::move(annotations), {}};
  const std::string lock(kLockAnnotation);
  for (const auto& time :
       {annotated_since(cronjob, {"metadata"}, lock),
        annotated_since(cronjob, {"spec", "jobTemplate", "metadata"}, lock),
        annotated_since(cronjob, {"spec", "jobTemplate", "spec", "template", "metadata"}, lock)})
    if (time && (!demand.annotated || *time < *demand.annotated)) demand.annotated = time;
  Findings findings;
  demand.selected = selected_annotations(settings, cronjob, findings).count("lock") != 0;
  return demand;
}

}  // namespace

CronJobVerdict decide_cronjob(const Json& cronjob, const Settings& settings) {
  if (!string_at(cronjob, {"metadata", "deletionTimestamp"}).empty()) return {};
  const kube::ObjectRef ref = reference_to(cronjob, "CronJob");
  const auto copy = plan_annotation_copy(cronjob, nullptr, settings);
  if (!copy)
    return {CronJobState::invalid,
            {kube::Event{.regarding = ref,
                         .identity = copy.error().message,
                         .type = kube::EventType::warning,
                         .reason = "InvalidAnnotations",
                         .action = "Mirror",
                         .note = copy.error().message}}};
  std::optional<GatedCronJob> gated;
  std::optional<LockDemand> demand;
  if (copy->gated) {
    Annotations annotations = annotations_of_jobs(cronjob, *copy);
    gated = gated_facts(cronjob, annotations, settings);
    demand = demand_of(cronjob, std::move(annotations), settings);
  }
  if (copy->is_up_to_date())
    return {copy->gated ? CronJobState::gated : CronJobState::ungated, {}, gated, demand};
  const std::string keys = keys_of(*copy);
  const std::string identity = string_at(cronjob, {"metadata", "resourceVersion"});
  if (settings.patch_cronjobs)
    return {CronJobState::pending,
            {patch(cronjob, *copy),
             kube::Event{.regarding = ref,
                         .identity = identity,
                         .reason = "Mirrored",
                         .action = "Mirror",
                         .note = "updated spec.jobTemplate.metadata.annotations: " + keys}},
            gated,
            demand};
  return {
      CronJobState::pending,
      {kube::Event{.regarding = ref,
                   .identity = keys,
                   .type = kube::EventType::warning,
                   .reason = "NotMirrored",
                   .action = "Mirror",
                   .note = "spec.jobTemplate.metadata.annotations lacks " + keys +
                           ", and patch-cronjobs is false: apply the CronJob again, or add them "
                           "there"}},
      gated,
      demand};
}

}  // namespace cronlatch::op
