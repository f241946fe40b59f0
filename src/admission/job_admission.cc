// SPDX-License-Identifier: Apache-2.0
#include "admission/job_admission.h"

#include "admission/admission_result.h"
#include "admission/gate_origin.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

// While the operator has no store, it denies only Jobs that request a lock.
void add_missing_setting(const LockRequest& request, const Settings& settings, Findings& findings) {
  if (settings.store.empty())
    findings.add(request.lock_where, "the operator has no store, so it cannot gate a Job",
                 "platform: set the chart's value store.url");
  else
    findings.add(request.lock_where, "the operator has no image, so it cannot gate a Job",
                 "platform: set the setting image");
}

std::optional<Injection> rewrite(kube::Json& job, const JobView& view,
                                 const Annotations& annotations, const Settings& settings,
                                 const EntrypointSource& source, Findings& findings) {
  const LockRequest request =
      read_lock_request(annotations, settings, view.origin.namespace_name, findings);
  if (request.gate != Gate::on) return std::nullopt;
  if (settings.image.empty() || settings.store.empty()) {
    add_missing_setting(request, settings, findings);
    return std::nullopt;
  }
  return inject(job, view, request, settings, source, findings);
}

}  // namespace

Annotations annotations_of(const JobView& job, Findings& findings) {
  Annotations all = read_annotations(job.annotations, job.origin.path + "metadata", findings);
  Annotations of_pod =
      read_annotations(job.pod_annotations, job.origin.path + "spec.template.metadata", findings);
  const auto copied = job.annotations.find(kCopiedKeysAnnotation);
  if (copied != job.annotations.end())
    for (const std::string& key : copied_keys(copied->second.value_or(""))) {
      const auto copy = all.find(key);
      const auto source = of_pod.find(key);
      if (copy == all.end() || source == of_pod.end()) continue;
      if (source->second.value == copy->second.value) copy->second.where = source->second.where;
      of_pod.erase(source);
    }
  merge(all, of_pod, findings);
  return all;
}

std::optional<Injection> rewrite_job(kube::Json& job, JobOrigin origin, const Settings& settings,
                                     const EntrypointSource& source, Findings& findings) {
  JobView view = parse_job(job, std::move(origin));
  if (view.origin.cronjob.empty()) view.origin.cronjob = cronjob_of_gate(view);
  return rewrite(job, view, annotations_of(view, findings), settings, source, findings);
}

std::optional<Injection> rewrite_job(kube::Json& job, JobOrigin origin,
                                     const Annotations& annotations, const Settings& settings,
                                     const EntrypointSource& source, Findings& findings) {
  return rewrite(job, parse_job(job, std::move(origin)), annotations, settings, source, findings);
}

AdmissionResult admit_job(AdmissionRequest& request, const Settings& settings,
                          const EntrypointSource& images) {
  AdmissionResult result;
  // The pod template of a Job is immutable, so an update needs no rewrite.
  if (request.operation != "CREATE") return result;
  JobOrigin origin{"", request.namespace_name, owning_cronjob(request.object)};
  Findings findings;
  std::optional<Injection> injection =
      rewrite_job(request.object, std::move(origin), settings, images, findings);
  if (!findings.empty()) return denied(findings);
  if (!injection) return result;
  result.patch = std::move(injection->patch);
  // The CronJob controller would log the warnings of every scheduled Job.
  const bool is_scheduled =
      !kube::string_at(request.object, {"metadata", "annotations", kScheduledAnnotation}).empty();
  if (!is_scheduled) result.warnings = std::move(injection->warnings);
  return result;
}

}  // namespace cronlatch::op
