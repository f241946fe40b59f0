// SPDX-License-Identifier: Apache-2.0
#include "admission/job_admission.h"

#include "admission/admission_result.h"
#include "admission/annotation_copy.h"
#include "labels/names.h"

namespace cronlatch::op {

Annotations annotations_of(const Workload& workload, Findings& findings) {
  Annotations all =
      annotations_at(*workload.job, {"metadata"}, workload.path + "metadata", findings);
  Annotations of_pod = annotations_at(*workload.job, {"spec", "template", "metadata"},
                                      workload.path + "spec.template.metadata", findings);
  const std::string mark =
      kube::string_at(*workload.job, {"metadata", "annotations", kMirroredAnnotation});
  for (const std::string& key : listed_keys(mark))
    if (all.count(key) != 0) of_pod.erase(key);
  merge(all, of_pod, findings);
  return all;
}

Result<std::optional<Injection>> gate(const Workload& workload, const Settings& settings,
                                      const EntrypointSource& source) {
  Findings findings;
  const Annotations annotations = annotations_of(workload, findings);
  const LockRequest request =
      read_lock_request(annotations, settings, workload.namespace_name, findings);
  if (!findings.empty()) return findings.error();
  if (request.gate != Gate::on) return std::optional<Injection>();
  if (settings.image.empty() || settings.store.empty())
    return Error{Code::config,
                 workload.path + "metadata.annotations[" + std::string(kLockAnnotation) +
                     "]: the operator was given no " +
                     (settings.store.empty() ? "store" : "image") +
                     ", so nothing can be gated; ask for the chart's value store.url to be set"};
  Result<Injection> injection = inject(workload, request, settings, source);
  if (!injection.ok()) return injection.error();
  return std::optional<Injection>(std::move(injection).value());
}

AdmissionResult admit_job(Admission& request, const Settings& settings,
                          const EntrypointSource& images) {
  AdmissionResult verdict;
  // A Job's template cannot be changed later, so there is nothing to do later either.
  if (request.operation != "CREATE") return verdict;
  const Workload workload{&request.object, "", request.namespace_name,
                          owning_cronjob(request.object)};
  Result<std::optional<Injection>> gated = gate(workload, settings, images);
  if (!gated.ok()) {
    verdict.kind = AdmissionResult::Kind::denied;
    verdict.message = gated.error().message;
    return verdict;
  }
  if (!gated->has_value()) return verdict;
  verdict.patch = std::move((*gated)->patch);
  // A scheduled Job is created by the controller, which only logs them, every time.
  const bool by_the_controller =
      !kube::string_at(request.object, {"metadata", "annotations", kScheduledAnnotation}).empty();
  if (!by_the_controller) verdict.warnings = std::move((*gated)->warnings);
  return verdict;
}

}  // namespace cronlatch::op
