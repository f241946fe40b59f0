// SPDX-License-Identifier: Apache-2.0
#include "plugin/release_plan.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "core/lock_name.h"
#include "gated/gated_container.h"
#include "labels/names.h"
#include "options/options.h"
#include "plugin/json_fields.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;
using kube::string_at;

constexpr int kDeadlineSeconds = 3'900;  // the longest lease (1 h) and the start of a pod (5 min)
constexpr int kRetentionSeconds = 300;

// Cronlatch's image: of the init container, or of the volume.
void read_image(const Json& pod_spec, PodStoreAccess& access) {
  for (const Json& volume : kube::items_at(pod_spec, {"volumes"}))
    if (string_at(volume, {"name"}) == kBinVolume) {
      access.image = string_at(volume, {"image", "reference"});
      access.pull_policy = string_at(volume, {"image", "pullPolicy"});
    }
  for (const Json& init : kube::items_at(pod_spec, {"initContainers"}))
    if (string_at(init, {"name"}) == kInstallContainer) {
      access.image = string_at(init, {"image"});
      access.pull_policy = string_at(init, {"imagePullPolicy"});
    }
}

Json container_security_context() {
  return {{"allowPrivilegeEscalation", false},
          {"readOnlyRootFilesystem", true},
          {"capabilities", {{"drop", Json::array({"ALL"})}}}};
}

Json command_of(const ReleaseTarget& target, const PodStoreAccess& access, ReleaseWait waiting) {
  Json command = Json::array({"/cronlatch", "release", target.lock, "--force", "--isolated"});
  if (waiting == ReleaseWait::no) command.push_back("--no-wait");
  for (const std::string& flag : access.flags) command.push_back(flag);
  return command;
}

}  // namespace

std::optional<PodStoreAccess> store_access(const Json& pod_spec) {
  const Json* const container = gated_container(pod_spec);
  if (container == nullptr) return std::nullopt;
  PodStoreAccess access;
  read_image(pod_spec, access);
  for (const Json& secret : kube::items_at(pod_spec, {"imagePullSecrets"}))
    access.pull_secrets.push_back(string_at(secret, {"name"}));
  for (const Json& volume : kube::items_at(pod_spec, {"volumes"}))
    if (string_at(volume, {"name"}) == kStoreVolume) access.store_volume = volume;
  const KeyValues flags = gate_flags(pod_spec);
  for (const Option& option : option_table())
    if (const auto flag = flags.find(option.key);
        option.scope == Scope::store && flag != flags.end())
      access.flags.push_back(flag_of(option) + '=' + flag->second);
  if (access.image.empty() || !flags.contains("store")) return std::nullopt;
  return access;
}

Json secret_volume(const std::string& secret) {
  return {{"name", kStoreVolume},
          {"secret", {{"secretName", secret}, {"optional", true}, {"defaultMode", 0444}}}};
}

Result<ReleaseTarget> release_target(const Cluster& cluster, const std::string& name,
                                     const std::string& namespace_name) {
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    if (const Status named = check_lock_name(name); !named) return named.error();
    const std::string owner_name = name.substr(0, slash);
    // A lock of the whole cluster has no namespace; the Secret of the given one applies.
    return ReleaseTarget{name, owner_name == "_cluster" ? namespace_name : owner_name};
  }
  for (const CronJob& cronjob : cluster.cronjobs) {
    if (cronjob.name != name || cronjob.namespace_name != namespace_name) continue;
    if (uses_lock(cronjob)) return ReleaseTarget{cronjob.lock(), namespace_name};
    return Error{Code::usage, "CronJob " + cronjob.id() + " is not gated: it has no lock"};
  }
  return Error{
      Code::usage,
      "CronJob " + cronlatch::quoted(name) + " does not exist in namespace " + namespace_name,
      "a lock's name has a slash, as kubectl cronlatch ls displays it: " + namespace_name +
          "/NAME"};
}

Json release_job(const ReleaseTarget& target, const PodStoreAccess& access, ReleaseWait waiting) {
  const Json amounts = {{"cpu", "50m"}, {"memory", "32Mi"}};
  Json container = {{"name", "release"},
                    {"image", access.image},
                    {"command", command_of(target, access, waiting)},
                    {"resources", {{"requests", amounts}, {"limits", amounts}}},
                    {"terminationMessagePolicy", "FallbackToLogsOnError"},
                    {"securityContext", container_security_context()}};
  if (!access.pull_policy.empty()) container["imagePullPolicy"] = access.pull_policy;
  Json pod = {{"restartPolicy", "Never"},
              {"automountServiceAccountToken", false},
              {"enableServiceLinks", false},
              {"securityContext",
               {{"runAsNonRoot", true}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}}};
  if (!access.store_volume.is_null()) {
    container["volumeMounts"] =
        Json::array({{{"name", kStoreVolume}, {"mountPath", kStoreDirectory}, {"readOnly", true}}});
    pod["volumes"] = Json::array({access.store_volume});
  }
  for (const std::string& secret : access.pull_secrets)
    pod["imagePullSecrets"].push_back({{"name", secret}});
  pod["containers"] = Json::array({std::move(container)});
  const Json labels = {{"app.kubernetes.io/part-of", "cronlatch"},
                       {"app.kubernetes.io/component", "release"}};
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata",
           {{"generateName", "cronlatch-release-"},
            {"namespace", target.namespace_name},
            {"labels", labels}}},
          {"spec",
           {{"backoffLimit", 0},
            {"activeDeadlineSeconds", kDeadlineSeconds},
            {"ttlSecondsAfterFinished", kRetentionSeconds},
            {"template", {{"metadata", {{"labels", labels}}}, {"spec", std::move(pod)}}}}}};
}

bool is_cooling(const Cluster& cluster, const std::string& lock) {
  const LockStatus* const live = cluster.status_page ? cluster.status_page->find(lock) : nullptr;
  return live != nullptr && live->state == "cooling";
}

std::string holder_text(const Cluster& cluster, const std::string& lock) {
  if (cluster.status_page) {
    const LockStatus* const live = cluster.status_page->find(lock);
    if (live == nullptr || live->holder_text().empty())
      return live == nullptr ? "not held, according to the operator" : live->state;
    if (live->state == "cooling") {
      const std::string until = live->expires ? " until " + rfc3339(*live->expires) : "";
      return "released by " + live->holder + ", closed by its min-hold" + until;
    }
    std::string text = live->state + " by " + live->holder_text();
    if (live->since) text += " since " + rfc3339(*live->since);
    if (live->expires) text += ", lease until " + rfc3339(*live->expires);
    return text;
  }
  std::string pods;
  for (const Pod& pod : cluster.pods) {
    const auto its = pod.flags.find("lock");
    if (pod.running && its != pod.flags.end() && its->second == lock)
      pods += (pods.empty() ? "" : ", ") + pod.namespace_name + '/' + pod.name;
  }
  return pods.empty() ? "no pod of this cluster uses it" : "used by " + pods;
}

}  // namespace cronlatch::plugin
