// SPDX-License-Identifier: Apache-2.0
// Running Jobs: compares each with the result of its admission.
#include <algorithm>
#include <limits>

#include "admission/job_admission.h"
#include "admission/job_rules.h"
#include "admission/run_flags.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "kube/container_argv.h"
#include "labels/gate_argv.h"
#include "labels/names.h"
#include "operator/reconcile/decide.h"
#include "operator/reconcile/field_times.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

// A Job without creationTimestamp is treated as a new one.
constexpr WallTime kUnknown{std::numeric_limits<std::int64_t>::max()};

// The Job at its creation: annotations that were added later had no effect on its pods.
Json as_created(Json job) {
  Json* const annotations = kube::find(job, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return job;
  std::vector<std::string> added_later;
  for (const auto& entry : annotations->items())
    if (entry.key().starts_with(kPrefix) && annotated_after_creation(job, entry.key()))
      added_later.push_back(entry.key());
  for (const std::string& name : added_later) annotations->erase(name);
  return job;
}

bool takes_lock(const std::vector<std::string>& argv, const GateSpan& gate,
                const std::string& lock) {
  const std::string flag = "--lock=" + kubelet_escaped(lock);
  const auto begin = argv.begin() + static_cast<std::ptrdiff_t>(gate.begin);
  const auto end = argv.begin() + static_cast<std::ptrdiff_t>(gate.end);
  return std::find(begin, end, flag) != end;
}

// Describes the bypass; "" for none.
std::string bypass_in(const Workload& workload, const Annotations& annotations,
                      const Settings& settings) {
  Findings findings;
  const LockRequest request =
      read_lock_request(annotations, settings, workload.namespace_name, findings);
  if (request.gate != Gate::on) return "";
  const auto& containers = kube::items_at(workload.pod_spec(), {"containers"});
  const auto index = gated_container(workload, request, findings);
  if (!findings.empty() || !index) {
    // Admission rejects such a Job. If a container is gated, the annotations were changed later.
    const bool gated = std::any_of(containers.begin(), containers.end(), [](const Json& one) {
      return find_gate(kube::argv_of(one)).has_value();
    });
    return gated ? "" : "none of its containers is gated";
  }
  const Json& container = containers[*index];
  const std::string name = "container " + cronlatch::quoted(string_at(container, {"name"}));
  const auto argv = kube::argv_of(container);
  const auto gate = find_gate(argv);
  if (!gate) return name + " is not gated";
  const auto lock = full_lock_name(request, workload.namespace_name, workload.cronjob);
  if (lock.ok() && !takes_lock(argv, *gate, *lock))
    return name + " does not take lock " + cronlatch::quoted(*lock);
  return "";
}

bool mentions_lock(const Json& job) {
  return !string_at(job, {"metadata", "annotations", kLockAnnotation}).empty() ||
         !string_at(job, {"spec", "template", "metadata", "annotations", kLockAnnotation}).empty();
}

}  // namespace

bool has_finished(const Json& job) {
  const auto& conditions = kube::items_at(job, {"status", "conditions"});
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& condition) {
    const std::string type = string_at(condition, {"type"});
    return (type == "Complete" || type == "Failed") && string_at(condition, {"status"}) == "True";
  });
}

std::vector<Decision> decide_job(const Json& job, const LockDemand* demand,
                                 const Settings& settings, const EnforcementTimes& enforcement) {
  if (has_finished(job) || (demand == nullptr && !mentions_lock(job))) return {};
  const WallTime created =
      parse_rfc3339(string_at(job, {"metadata", "creationTimestamp"})).value_or(kUnknown);
  if (created < enforcement.gating) return {};

  Json then = as_created(job);
  const Workload workload{&then, "", string_at(job, {"metadata", "namespace"}),
                          owning_cronjob(job)};
  Findings findings;
  Annotations annotations = annotations_of(workload, findings);
  std::string subject = "the Job";
  if (annotations.count("lock") == 0) {
    const auto since = demand == nullptr ? std::nullopt : demand->since(enforcement);
    if (!since || *since >= created) return {};
    for (const auto& [key, annotation] : demand->annotations)
      annotations.try_emplace(key, annotation);
    subject = "its CronJob " + workload.cronjob;
  }
  const std::string bypass = bypass_in(workload, annotations, settings);
  if (bypass.empty()) return {};
  const kube::ObjectRef ref{"batch/v1", "Job", workload.namespace_name,
                            string_at(job, {"metadata", "name"}),
                            string_at(job, {"metadata", "uid"})};
  return {
      kube::Event{.regarding = ref,
                  .identity = "ungated",
                  .type = kube::EventType::warning,
                  .reason = "AdmissionBypassed",
                  .action = "Run",
                  .note = subject + " requests a lock, but the Job runs without one: " + bypass +
                          ". The admission webhook was not in effect when it was created"},
      CountUngatedJob{ref.namespace_name}};
}

}  // namespace cronlatch::op
