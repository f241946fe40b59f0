// SPDX-License-Identifier: Apache-2.0
#include "plugin/uninstall_state.h"

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "labels/names.h"
#include "plugin/json_fields.h"
#include "plugin/objects.h"

namespace cronlatch::plugin {
namespace {

using kube::find;
using kube::Json;
using kube::string_at;

// The rule of the policy: the annotation exists and is not "false".
bool requests_lock_at(const Json* metadata) {
  if (metadata == nullptr) return false;
  const Json* const lock = find(*metadata, {"annotations", kLockAnnotation});
  return lock != nullptr && *lock != "false";
}

bool is_copied(const Json* job_template) {
  if (job_template == nullptr) return false;
  std::istringstream keys(string_at(*job_template, {"annotations", kMirroredAnnotation}));
  for (std::string key; std::getline(keys, key, ',');)
    if (key == "lock") return true;
  return false;
}

void add_cronjob(const Json& object, std::vector<LockedCronJob>& out) {
  const Json* const job_template = find(object, {"spec", "jobTemplate", "metadata"});
  LockedCronJob cronjob;
  cronjob.on_cronjob = requests_lock_at(find(object, {"metadata"}));
  cronjob.on_job_template = requests_lock_at(job_template);
  cronjob.on_pods =
      requests_lock_at(find(object, {"spec", "jobTemplate", "spec", "template", "metadata"}));
  if (!cronjob.on_cronjob && !cronjob.reaches_jobs()) return;
  cronjob.copied = cronjob.on_job_template && is_copied(job_template);
  cronjob.namespace_name = printable(string_at(object, {"metadata", "namespace"}));
  cronjob.name = printable(string_at(object, {"metadata", "name"}));
  cronjob.lock = printable(read_cronjob(object).lock(), 200);
  out.push_back(std::move(cronjob));
}

std::string release_of(const Json& object) {
  return printable_at(object, {"metadata", "labels", "app.kubernetes.io/instance"});
}

std::string kind_of(const Json& object) {
  std::string kind = string_at(object, {"kind"});
  for (char& c : kind)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return kind;
}

bool checks_jobs(const Json& policy) {
  for (const Json& rule : kube::items_at(policy, {"spec", "matchConstraints", "resourceRules"})) {
    const auto resources = kube::strings_at(rule, {"resources"});
    if (std::find(resources.begin(), resources.end(), "jobs") != resources.end()) return true;
  }
  return false;
}

bool selects_namespaces(const Json& policy) {
  const Json* const selector = find(policy, {"spec", "matchConstraints", "namespaceSelector"});
  return selector != nullptr && selector->is_object() && !selector->empty();
}

bool has_denying_binding(const std::string& policy, const std::vector<Json>& objects) {
  return std::any_of(objects.begin(), objects.end(), [&](const Json& object) {
    const auto actions = kube::strings_at(object, {"spec", "validationActions"});
    return string_at(object, {"kind"}) == "ValidatingAdmissionPolicyBinding" &&
           string_at(object, {"spec", "policyName"}) == policy &&
           std::find(actions.begin(), actions.end(), "Deny") != actions.end();
  });
}

void find_job_policy(const std::vector<Json>& objects, UninstallState& state) {
  for (const Json& object : objects) {
    const std::string name = string_at(object, {"metadata", "name"});
    if (string_at(object, {"kind"}) != "ValidatingAdmissionPolicy" || !checks_jobs(object) ||
        !has_denying_binding(name, objects))
      continue;
    if (state.has_operator(release_of(object))) state.job_policy_of_operator = true;
    const bool everywhere = !selects_namespaces(object);
    // Of two policies, the one that applies in more namespaces.
    if (!state.job_policy.empty() && !everywhere) continue;
    state.job_policy = printable(name);
    state.job_policy_everywhere = everywhere;
  }
}

}  // namespace

bool UninstallState::has_operator(const std::string& release) const {
  return std::any_of(operators.begin(), operators.end(),
                     [&](const InstalledOperator& one) { return one.release == release; });
}

std::vector<ClusterObject> UninstallState::left_behind() const {
  std::vector<ClusterObject> left;
  for (const ClusterObject& object : objects)
    if (!has_operator(object.release)) left.push_back(object);
  return left;
}

UninstallState read_uninstall_state(const Json& cronjobs, const Json& deployments,
                                    const Json& objects) {
  UninstallState state;
  for (const Json& cronjob : items_of(cronjobs)) add_cronjob(cronjob, state.cronjobs);
  for (const Json& deployment : items_of(deployments))
    state.operators.push_back({printable_at(deployment, {"metadata", "namespace"}),
                               printable_at(deployment, {"metadata", "name"}),
                               release_of(deployment)});
  for (const Json& object : items_of(objects))
    state.objects.push_back(
        {kind_of(object), string_at(object, {"metadata", "name"}), release_of(object)});
  find_job_policy(items_of(objects), state);
  return state;
}

std::string remove_lock_command(const LockedCronJob& cronjob) {
  const Json no_lock = {{"annotations", {{kLockAnnotation, nullptr}}}};
  Json patch;
  if (cronjob.on_cronjob) patch["metadata"] = no_lock;
  if (cronjob.on_job_template) patch["spec"]["jobTemplate"]["metadata"] = no_lock;
  if (cronjob.on_pods) patch["spec"]["jobTemplate"]["spec"]["template"]["metadata"] = no_lock;
  return "kubectl -n " + cronjob.namespace_name + " patch cronjob " + cronjob.name +
         " --type=merge -p '" + kube::to_text(patch) + '\'';
}

}  // namespace cronlatch::plugin
