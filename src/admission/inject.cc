// SPDX-License-Identifier: Apache-2.0
#include "admission/inject.h"

#include <algorithm>

#include "admission/gated_container.h"
#include "admission/job_restrictions.h"
#include "admission/job_warnings.h"
#include "admission/json_patch.h"
#include "admission/store_volume.h"
#include "admission/user_command.h"
#include "admission/wrapper_command.h"
#include "base/rfc3339.h"
#include "config/environment.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr char kDefaultMessagePath[] = "/dev/termination-log";
// The init container's uid in a pod that runs as root: runAsNonRoot needs any other uid.
constexpr int kNonRootUid = 65532;

std::string pointer_to(const char* path) { return std::string("/spec/template") + path; }

// Whether `existing` has everything of `wanted`. It may have more: between two calls of this
// webhook the API server sets defaults, and other webhooks add their own fields.
bool contains(const Json& existing, const Json& wanted) {
  if (wanted.is_object() && existing.is_object()) {
    for (const auto& [key, value] : wanted.items()) {
      const auto at = existing.find(key);
      if (at == existing.end() || !contains(*at, value)) return false;
    }
    return true;
  }
  return existing == wanted;
}

// Adds `wanted` to the array; replaces an item with the same name that lacks a part of it.
void put_named(PatchBuilder& patch, const std::string& array, const char* name_key,
               const Json& wanted) {
  const Json* const items = patch.at(array);
  if (items != nullptr && items->is_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (kube::string_at((*items)[i], {name_key}) != kube::string_at(wanted, {name_key})) continue;
      if (!contains((*items)[i], wanted)) patch.set(below(array, i), wanted);
      return;
    }
  }
  patch.append(array, wanted);
}

Json small_resources() {
  // Requests equal to limits keep the pod in the QoS class Guaranteed.
  const Json amounts = {{"cpu", "50m"}, {"memory", "32Mi"}};
  return {{"requests", amounts}, {"limits", amounts}};
}

// As the Pod Security Standard "restricted" requires. Without a uid: OpenShift assigns a range of
// uids to a namespace and rejects others. The image's own user is not root.
Json install_security(const Json& pod) {
  Json security = {{"allowPrivilegeEscalation", false},
                   {"capabilities", {{"drop", Json::array({"ALL"})}}},
                   {"readOnlyRootFilesystem", true},
                   {"runAsNonRoot", true},
                   {"seccompProfile", {{"type", "RuntimeDefault"}}}};
  const auto uid = kube::number_at(pod, {"securityContext", "runAsUser"});
  if (uid && *uid == 0) security["runAsUser"] = kNonRootUid;
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

// Whether two names differ only in registry and digest: a webhook that runs later may change the
// registry ("mirror.corp/x/cronlatch:1@sha256:..."), and a second call must not revert that.
bool same_image(const std::string& a, const std::string& b) {
  const auto name = [](const std::string& image) {
    const std::string tagged = image.substr(0, image.find('@'));
    return tagged.substr(tagged.rfind('/') + 1);
  };
  return a == b || name(a) == name(b);
}

void put_install_container(PatchBuilder& patch, const Settings& settings) {
  const std::string array = pointer_to("/spec/initContainers");
  const Json* const pod = patch.at(pointer_to("/spec"));
  const Json wanted = install_container(*pod, settings);
  const auto& containers = kube::items_at(*pod, {"initContainers"});
  const auto at = std::find_if(containers.begin(), containers.end(), [](const Json& container) {
    return kube::string_at(container, {"name"}) == kInstallContainer;
  });
  if (at == containers.end()) {
    patch.prepend(array, wanted);
    return;
  }
  const Json* const mounts = kube::find(*at, {"volumeMounts"});
  const bool mounted = mounts != nullptr && mounts->is_array() && !mounts->empty() &&
                       contains((*mounts)[0], wanted["volumeMounts"][0]);
  const bool installs = mounted && kube::find(*at, {"command"}) != nullptr &&
                        (*at)["command"] == wanted["command"] &&
                        same_image(kube::string_at(*at, {"image"}), settings.image);
  if (!installs) patch.set(below(array, static_cast<std::size_t>(at - containers.begin())), wanted);
}

void put_volumes(PatchBuilder& patch, const LockRequest& request, const Settings& settings) {
  put_named(patch, pointer_to("/spec/volumes"), "name",
            {{"name", kBinVolume}, {"emptyDir", {{"sizeLimit", "32Mi"}}}});
  if (const Json store = store_volume(request, settings); !store.is_null())
    put_named(patch, pointer_to("/spec/volumes"), "name", store);
}

void put_mounts(PatchBuilder& patch, const std::string& container, bool with_store) {
  const std::string mounts = container + "/volumeMounts";
  put_named(patch, mounts, "mountPath",
            {{"name", kBinVolume}, {"mountPath", kBinDirectory}, {"readOnly", true}});
  if (with_store)
    put_named(patch, mounts, "mountPath",
              {{"name", kStoreVolume}, {"mountPath", kStoreDirectory}, {"readOnly", true}});
}

Json from_field(std::string_view name, const char* path) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

void put_environment(PatchBuilder& patch, const std::string& container, const JobView& view) {
  const std::string env = container + "/env";
  put_named(patch, env, "name", from_field(kPodNameVariable, "metadata.name"));
  put_named(patch, env, "name",
            from_field(kJobUidVariable, "metadata.labels['batch.kubernetes.io/controller-uid']"));
  if (view.has_indexed_pods())
    put_named(patch, env, "name",
              from_field(kIndexVariable,
                         "metadata.annotations['batch.kubernetes.io/job-completion-index']"));
  const std::optional<WallTime> scheduled = parse_rfc3339(view.scheduled_timestamp);
  if (scheduled)
    put_named(patch, env, "name",
              {{"name", kScheduledTimeVariable}, {"value", rfc3339(*scheduled)}});
}

// The view of a Job whose gated container is not known, for the restrictions of the Job itself.
JobView without_containers(JobView view) {
  view.containers.assign(1, {});
  return view;
}

void put_pull_secrets(PatchBuilder& patch, const Settings& settings) {
  for (const std::string& secret : settings.image_pull_secrets)
    put_named(patch, pointer_to("/spec/imagePullSecrets"), "name", {{"name", secret}});
}

}  // namespace

std::optional<Injection> inject(Json& job, const JobView& view, const LockRequest& request,
                                const Settings& settings, const EntrypointSource& source,
                                Findings& findings) {
  const std::optional<std::size_t> index = gated_container(view, request, findings);
  std::optional<UserCommand> user;
  if (index) user = user_command(view, *index, request, source, findings);
  if (index)
    check_restrictions(view, *index, request, findings);
  else
    check_restrictions(without_containers(view), 0, request, findings);
  const std::string message_path = index ? view.containers[*index].termination_message_path : "";
  std::vector<std::string> command = wrapper_command(
      view, request, settings, message_path.empty() ? kDefaultMessagePath : message_path, findings);
  if (!findings.empty() || !user) return std::nullopt;
  if (!user->by_arch.empty())
    command.insert(command.end() - 1, std::string(kByArchFlag) + user->by_arch);  // before the --
  command.insert(command.end(), user->command.begin(), user->command.end());

  PatchBuilder patch(job);
  const std::string container = below(pointer_to("/spec/containers"), *index);
  patch.set(container + "/command", Json(command));
  if (user->args) patch.set(container + "/args", Json(*user->args));
  if (!user->pinned.empty()) patch.set(container + "/image", user->pinned);
  if (!user->from.empty())
    patch.set(below(pointer_to("/metadata/annotations"), kCommandFromAnnotation), user->from);
  put_environment(patch, container, view);
  put_mounts(patch, container, has_store_volume(request, settings));
  put_volumes(patch, request, settings);
  put_install_container(patch, settings);
  put_pull_secrets(patch, settings);
  patch.set(below(pointer_to("/metadata/labels"), kGatedLabel), "true");
  patch.set(below(pointer_to("/metadata/annotations"), kInjectedAnnotation), CRONLATCH_VERSION);
  // Always: the API server sets the default before admission, so the user's own value cannot be
  // distinguished from it.
  patch.set("/spec/podReplacementPolicy", "Failed");
  return Injection{patch.take_operations(), job_warnings(view, *index, request, settings)};
}

}  // namespace cronlatch::op
