// SPDX-License-Identifier: Apache-2.0
#include "admission/job_admission.h"

#include "admission/admission_result.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

// While the operator has no store, it denies only Jobs that request a lock.
Error missing_setting(const JobView& job, const Settings& settings) {
  const std::string where = job.annotation_path(kLockAnnotation);
  if (settings.store.empty())
    return {Code::config, where +
                              ": the operator has no store, so it cannot gate a Job; "
                              "set the chart's value store.url"};
  return {Code::config, where +
                            ": the operator has no image, so it cannot gate a Job; "
                            "set the setting image"};
}

}  // namespace

Annotations annotations_of(const JobView& job, Findings& findings) {
  Annotations all = read_annotations(job.annotations, job.origin.path + "metadata", findings);
  Annotations of_pod =
      read_annotations(job.pod_annotations, job.origin.path + "spec.template.metadata", findings);
  const auto copied = job.annotations.find(kCopiedKeysAnnotation);
  if (copied != job.annotations.end())
    for (const std::string& key : copied_keys(copied->second.value_or("")))
      if (all.count(key) != 0) of_pod.erase(key);
  merge(all, of_pod, findings);
  return all;
}

Result<std::optional<Injection>> rewrite_job(kube::Json& job, JobOrigin origin,
                                             const Settings& settings,
                                             const EntrypointSource& source) {
  const JobView view = parse_job(job, std::move(origin));
  Findings findings;
  const Annotations annotations = annotations_of(view, findings);
  const LockRequest request =
      read_lock_request(annotations, settings, view.origin.namespace_name, findings);
  if (!findings.empty()) return findings.error();
  if (request.gate != Gate::on) return std::optional<Injection>();
  if (settings.image.empty() || settings.store.empty()) return missing_setting(view, settings);
  Result<Injection> injection = inject(job, view, request, settings, source);
  if (!injection.ok()) return injection.error();
  return std::optional<Injection>(std::move(injection).value());
}

AdmissionResult admit_job(AdmissionRequest& request, const Settings& settings,
                          const EntrypointSource& images) {
  AdmissionResult result;
  // The pod template of a Job is immutable, so an update needs no rewrite.
  if (request.operation != "CREATE") return result;
  JobOrigin origin{"", request.namespace_name, owning_cronjob(request.object)};
  Result<std::optional<Injection>> injection =
      rewrite_job(request.object, std::move(origin), settings, images);
  if (!injection.ok()) {
    result.kind = AdmissionResult::Kind::denied;
    result.message = injection.error().message;
    return result;
  }
  if (!injection->has_value()) return result;
  result.patch = std::move((*injection)->patch);
  // The CronJob controller would log the warnings of every scheduled Job.
  const bool is_scheduled =
      !kube::string_at(request.object, {"metadata", "annotations", kScheduledAnnotation}).empty();
  if (!is_scheduled) result.warnings = std::move((*injection)->warnings);
  return result;
}

}  // namespace cronlatch::op
