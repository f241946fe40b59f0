// SPDX-License-Identifier: Apache-2.0
#include "admission/inject.h"

#include "admission/gated_container.h"
#include "admission/job_restrictions.h"
#include "admission/job_warnings.h"
#include "admission/json_patch.h"
#include "admission/named_items.h"
#include "admission/store_volume.h"
#include "admission/user_command.h"
#include "admission/wrapper_command.h"
#include "admission/wrapper_source.h"
#include "base/rfc3339.h"
#include "config/environment.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr char kDefaultMessagePath[] = "/dev/termination-log";

std::string pointer_to(const char* path) { return std::string("/spec/template") + path; }

void put_store_volume(PatchBuilder& patch, const LockRequest& request, const Settings& settings) {
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
    check_restrictions(view, *index, request, settings, findings);
  else
    check_restrictions(without_containers(view), 0, request, settings, findings);
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
  put_wrapper_volume(patch, view, settings);
  put_store_volume(patch, request, settings);
  put_install_container(patch, view, settings);
  put_pull_secrets(patch, settings);
  patch.set(below(pointer_to("/metadata/labels"), kGatedLabel), "true");
  patch.set(below(pointer_to("/metadata/annotations"), kInjectedAnnotation), CRONLATCH_VERSION);
  // Always: the API server sets the default before admission, so the user's own value cannot be
  // distinguished from it.
  patch.set("/spec/podReplacementPolicy", "Failed");
  return Injection{patch.take_operations(), job_warnings(view, *index, request, settings)};
}

}  // namespace cronlatch::op
