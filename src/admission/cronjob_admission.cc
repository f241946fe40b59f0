// SPDX-License-Identifier: Apache-2.0
// The admission of a CronJob: checks its annotations and copies them to its Job template. It
// changes nothing else, so that GitOps tools report no drift.
#include <iterator>

#include "admission/admission_result.h"
#include "admission/annotation_copy.h"
#include "admission/job_admission.h"
#include "admission/job_warnings.h"
#include "admission/json_patch.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr char kTemplatePath[] = "spec.jobTemplate.";

// With generateName there is no name yet: any name is enough for the check.
std::string name_of(const Json& cronjob) {
  const std::string name = kube::string_at(cronjob, {"metadata", "name"});
  return name.empty() ? kube::string_at(cronjob, {"metadata", "generateName"}) + "x" : name;
}

Json copy_annotations(Json& cronjob, const AnnotationCopy& annotation_copy) {
  PatchBuilder patch(cronjob);
  const std::string annotations = json_pointer({"spec", "jobTemplate", "metadata", "annotations"});
  for (const auto& [name, value] : annotation_copy.set) patch.set(below(annotations, name), value);
  for (const std::string& name : annotation_copy.remove) patch.remove(below(annotations, name));
  return patch.take_operations();
}

}  // namespace

AdmissionResult admit_cronjob(AdmissionRequest& request, const Settings& settings,
                              const EntrypointSource& images) {
  const bool is_write = request.operation == "CREATE" || request.operation == "UPDATE";
  // While a CronJob is deleted, its finalizers must be removable even if it has errors.
  const Json* const deleted = kube::find(request.object, {"metadata", "deletionTimestamp"});
  if (!is_write || (deleted != nullptr && !deleted->is_null())) return {};
  Findings findings;
  AnnotationCopy copy = plan_annotation_copy(request.object, request.before, settings, findings);

  AdmissionResult result;
  result.patch = copy_annotations(request.object, copy);
  result.warnings = std::move(copy.warnings);
  std::optional<Injection> rewritten;
  if (copy.gated) {
    // Rewrites the Job that the template would become, for its errors and warnings only.
    Json none = Json::object();
    Json* const job_template = kube::find(request.object, {"spec", "jobTemplate"});
    Json& job = job_template != nullptr && job_template->is_object() ? *job_template : none;
    rewritten = rewrite_job(job, {kTemplatePath, request.namespace_name, name_of(request.object)},
                            copy.annotations, settings,
                            PendingEntrypointSource(images, result.warnings), findings);
  }
  if (!findings.empty()) return denied(findings);
  if (!rewritten) return result;
  const auto add = [&](std::vector<Finding>&& warnings) {
    std::move(warnings.begin(), warnings.end(), std::back_inserter(result.warnings));
  };
  add(std::move(rewritten->warnings));
  add(history_warnings(request.object));
  return result;
}

}  // namespace cronlatch::op
