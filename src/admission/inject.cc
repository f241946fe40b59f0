// SPDX-License-Identifier: Apache-2.0
#include "admission/inject.h"

#include "admission/job_restrictions.h"
#include "admission/job_warnings.h"
#include "admission/json_patch.h"
#include "admission/wrapper_command.h"
#include "base/rfc3339.h"
#include "config/environment.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr char kDefaultMessagePath[] = "/dev/termination-log";
// Who the init container is when the pod says root: any uid that is not, for runAsNonRoot.
constexpr int kSomeUid = 65532;

std::string pointer_to(const char* path) { return std::string("/spec/template") + path; }

// Everything of `ours` stands in `theirs`; more may: the API server fills in defaults between two
// calls, and other webhooks add what is theirs.
bool contains(const Json& theirs, const Json& ours) {
  if (ours.is_object() && theirs.is_object()) {
    for (const auto& [key, value] : ours.items()) {
      const auto at = theirs.find(key);
      if (at == theirs.end() || !contains(*at, value)) return false;
    }
    return true;
  }
  return theirs == ours;
}

// Puts `ours` into the array under its name, in the place of a namesake that says something else.
void put_named(Edit& edit, const std::string& array, const char* name_key, const Json& ours) {
  const Json* const items = edit.at(array);
  if (items != nullptr && items->is_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (kube::string_at((*items)[i], {name_key}) != kube::string_at(ours, {name_key})) continue;
      if (!contains((*items)[i], ours)) edit.set(below(array, i), ours);
      return;
    }
  }
  edit.append(array, ours);
}

Json small_resources() {
  // Requests equal to limits, or a Guaranteed pod would no longer be one.
  const Json amounts = {{"cpu", "50m"}, {"memory", "32Mi"}};
  return {{"requests", amounts}, {"limits", amounts}};
}

// What the restricted Pod Security Standard asks for, and no uid: a fixed one is not admitted where
// the platform hands uids out. The image's own user is not root.
Json install_security(const Json& pod) {
  Json security = {{"allowPrivilegeEscalation", false},
                   {"capabilities", {{"drop", Json::array({"ALL"})}}},
                   {"readOnlyRootFilesystem", true},
                   {"runAsNonRoot", true},
                   {"seccompProfile", {{"type", "RuntimeDefault"}}}};
  const auto uid = kube::number_at(pod, {"securityContext", "runAsUser"});
  if (uid && *uid == 0) security["runAsUser"] = kSomeUid;
  return security;
}

Json install_container(const Json& pod, const Settings& settings) {
  return {{"name", kInstallContainer},
          {"image", settings.image},
          {"imagePullPolicy", settings.image_pull_policy},
          {"command", Json::array({"/cronlatch", "install", kBinDirectory})},
          {"resources", settings.resources.is_null() ? small_resources() : settings.resources},
          {"securityContext", install_security(pod)},
          {"terminationMessagePolicy", "FallbackToLogsOnError"},
          {"volumeMounts", Json::array({{{"name", kBinVolume}, {"mountPath", kBinDirectory}}})}};
}

// "mirror.corp/x/cronlatch:1@sha256:..." is "ghcr.io/x/cronlatch:1": registries are rewritten and
// digests added by webhooks that run after us, and we must not take that back.
bool same_image(const std::string& theirs, const std::string& ours) {
  const auto name = [](const std::string& image) {
    const std::string tagged = image.substr(0, image.find('@'));
    return tagged.substr(tagged.rfind('/') + 1);
  };
  return theirs == ours || name(theirs) == name(ours);
}

void put_install_container(Edit& edit, const Settings& settings) {
  const std::string array = pointer_to("/spec/initContainers");
  const Json* const pod = edit.at(pointer_to("/spec"));
  const Json ours = install_container(*pod, settings);
  const auto& there = kube::items_at(*pod, {"initContainers"});
  const auto at = index_of_name(there, kInstallContainer);
  if (!at) {
    edit.prepend(array, ours);
    return;
  }
  const Json& theirs = there[*at];
  const Json* const mounts = kube::find(theirs, {"volumeMounts"});
  const bool mounted = mounts != nullptr && mounts->is_array() && !mounts->empty() &&
                       contains((*mounts)[0], ours["volumeMounts"][0]);
  const bool installs = mounted && kube::find(theirs, {"command"}) != nullptr &&
                        theirs["command"] == ours["command"] &&
                        same_image(kube::string_at(theirs, {"image"}), settings.image);
  if (!installs) edit.set(below(array, *at), ours);
}

void put_volumes(Edit& edit, const std::string& secret) {
  put_named(edit, pointer_to("/spec/volumes"), "name",
            {{"name", kBinVolume}, {"emptyDir", {{"sizeLimit", "32Mi"}}}});
  if (secret.empty()) return;
  // Readable for every uid: which one the container has is not known here.
  put_named(edit, pointer_to("/spec/volumes"), "name",
            {{"name", kStoreVolume},
             {"secret", {{"secretName", secret}, {"optional", true}, {"defaultMode", 0444}}}});
}

void put_mounts(Edit& edit, const std::string& container, bool with_secret) {
  const std::string mounts = container + "/volumeMounts";
  put_named(edit, mounts, "mountPath",
            {{"name", kBinVolume}, {"mountPath", kBinDirectory}, {"readOnly", true}});
  if (with_secret)
    put_named(edit, mounts, "mountPath",
              {{"name", kStoreVolume}, {"mountPath", kStoreDirectory}, {"readOnly", true}});
}

Json from_field(std::string_view name, const char* path) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

void put_environment(Edit& edit, const std::string& container, const Workload& workload) {
  const std::string env = container + "/env";
  put_named(edit, env, "name", from_field(kPodNameVariable, "metadata.name"));
  put_named(edit, env, "name",
            from_field(kJobUidVariable, "metadata.labels['batch.kubernetes.io/controller-uid']"));
  const std::optional<WallTime> scheduled = parse_rfc3339(
      kube::string_at(*workload.job, {"metadata", "annotations", kScheduledAnnotation}));
  if (scheduled)
    put_named(edit, env, "name",
              {{"name", kScheduledTimeVariable}, {"value", rfc3339(*scheduled)}});
}

void put_pull_secrets(Edit& edit, const Settings& settings) {
  for (const std::string& secret : settings.image_pull_secrets)
    put_named(edit, pointer_to("/spec/imagePullSecrets"), "name", {{"name", secret}});
}

Json array_of(const std::vector<std::string>& strings) { return Json(strings); }

}  // namespace

Result<Injection> inject(const Workload& workload, const LockRequest& request,
                         const Settings& settings, const EntrypointSource& source) {
  Findings findings;
  const std::optional<std::size_t> index = gated_container(workload, request, findings);
  if (!index) return findings.error();
  const Json& container = kube::items_at(workload.pod_spec(), {"containers"})[*index];
  const std::optional<UserCommand> user = user_command(workload, *index, request, source, findings);
  refuse_shapes(workload, *index, request, findings);
  const std::string message_path = kube::string_at(container, {"terminationMessagePath"});
  std::vector<std::string> command =
      wrapper_command(workload, request, settings,
                      message_path.empty() ? kDefaultMessagePath : message_path, findings);
  if (!findings.empty()) return findings.error();
  if (!user->by_arch.empty())
    command.insert(command.end() - 1, std::string(kByArchFlag) + user->by_arch);  // before the --
  command.insert(command.end(), user->command.begin(), user->command.end());

  std::vector<std::string> warnings = warnings_for(workload, *index, settings);
  Edit edit(*workload.job);
  const std::string pointer = below(pointer_to("/spec/containers"), *index);
  edit.set(pointer + "/command", array_of(command));
  if (user->args) edit.set(pointer + "/args", array_of(*user->args));
  if (!user->pinned.empty()) edit.set(pointer + "/image", user->pinned);
  if (!user->from.empty())
    edit.set(below(pointer_to("/metadata/annotations"), kCommandFromAnnotation), user->from);
  put_environment(edit, pointer, workload);
  put_mounts(edit, pointer, !request.store_secret.empty());
  put_volumes(edit, request.store_secret);
  put_install_container(edit, settings);
  put_pull_secrets(edit, settings);
  edit.set(below(pointer_to("/metadata/labels"), kGatedLabel), "true");
  edit.set(below(pointer_to("/metadata/annotations"), kInjectedAnnotation), CRONLATCH_VERSION);
  // Always: the default has been filled in before we are asked, so nobody can tell a wish from it.
  edit.set("/spec/podReplacementPolicy", "Failed");
  return Injection{edit.take_operations(), std::move(warnings)};
}

}  // namespace cronlatch::op
