// SPDX-License-Identifier: Apache-2.0
// A CronJob that is applied: its annotations are checked and mirrored, and nothing else of it is
// touched, so that GitOps tools see no drift.
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

// One that the API server has yet to name: any name will do to try.
std::string name_of(const Json& cronjob) {
  const std::string name = kube::string_at(cronjob, {"metadata", "name"});
  return name.empty() ? kube::string_at(cronjob, {"metadata", "generateName"}) + "x" : name;
}

Json mirrored(Json& cronjob, const AnnotationCopy& annotation_copy) {
  Edit edit(cronjob);
  const std::string annotations = json_pointer({"spec", "jobTemplate", "metadata", "annotations"});
  for (const auto& [name, value] : annotation_copy.set) edit.set(below(annotations, name), value);
  for (const std::string& name : annotation_copy.remove) edit.remove(below(annotations, name));
  return edit.take_operations();
}

AdmissionResult denied(const Error& error) {
  AdmissionResult verdict;
  verdict.kind = AdmissionResult::Kind::denied;
  verdict.message = error.message;
  return verdict;
}

}  // namespace

AdmissionResult admit_cronjob(Admission& request, const Settings& settings,
                              const EntrypointSource& images) {
  const bool concerns_us = request.operation == "CREATE" || request.operation == "UPDATE";
  // One that is being deleted must be able to lose its finalizers, whatever is wrong with it.
  const Json* const deleted = kube::find(request.object, {"metadata", "deletionTimestamp"});
  if (!concerns_us || (deleted != nullptr && !deleted->is_null())) return {};
  Result<AnnotationCopy> wanted = annotation_copy(request.object, request.before, settings);
  if (!wanted.ok()) return denied(wanted.error());

  AdmissionResult verdict;
  verdict.patch = mirrored(request.object, *wanted);
  verdict.warnings = std::move(wanted->warnings);
  if (!wanted->gated) return verdict;
  // The Job that the template would become. What its rewrite would be is nobody's concern here.
  Json none = Json::object();
  Json* const job_template = kube::find(request.object, {"spec", "jobTemplate"});
  Json& job = job_template != nullptr && job_template->is_object() ? *job_template : none;
  const Workload workload{&job, kTemplatePath, request.namespace_name, name_of(request.object)};
  Result<std::optional<Injection>> tried =
      gate(workload, settings, Lookahead(images, verdict.warnings));
  if (!tried.ok()) return denied(tried.error());
  if (!tried->has_value()) return verdict;
  const auto add = [&](std::vector<std::string>&& warnings) {
    std::move(warnings.begin(), warnings.end(), std::back_inserter(verdict.warnings));
  };
  add(std::move((*tried)->warnings));
  add(history_warnings(request.object));
  return verdict;
}

}  // namespace cronlatch::op
