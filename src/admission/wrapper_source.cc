// SPDX-License-Identifier: Apache-2.0
#include "admission/wrapper_source.h"

#include <algorithm>
#include <string>
#include <vector>

#include "admission/named_items.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

constexpr char kInitContainers[] = "/spec/template/spec/initContainers";
constexpr char kVolumes[] = "/spec/template/spec/volumes";
// The init container's uid in a pod that runs as root: runAsNonRoot needs any other uid.
constexpr int kNonRootUid = 65532;

Json wrapper_directory() { return {{"emptyDir", {{"sizeLimit", "32Mi"}}}}; }

Json install_command() { return Json::array({"/cronlatch", "install", kBinDirectory}); }

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
          {"command", install_command()},
          {"resources", settings.resources.is_null() ? small_resources() : settings.resources},
          {"securityContext", install_security(pod)},
          {"terminationMessagePolicy", "FallbackToLogsOnError"},
          {"volumeMounts", Json::array({{{"name", kBinVolume}, {"mountPath", kBinDirectory}}})}};
}

// The name without registry, path and digest: "cronlatch:1" of
// "mirror.corp/x/cronlatch:1@sha256:...".
std::string tagged_name(const std::string& image) {
  const std::string tagged = image.substr(0, image.find('@'));
  return tagged.substr(tagged.rfind('/') + 1);
}

// Whether two names differ only in registry and digest: a webhook that runs later may change the
// registry, and a second call must not revert that.
bool same_image(const std::string& a, const std::string& b) {
  return a == b || tagged_name(a) == tagged_name(b);
}

// Whether they differ at most in the tag, too: one of them can be of another version.
bool same_repository(const std::string& a, const std::string& b) {
  const auto name = [](const std::string& image) {
    const std::string tagged = tagged_name(image);
    return tagged.substr(0, tagged.find(':'));
  };
  return name(a) == name(b);
}

// The image has the program at its root, so the mount has it where the init container copies it.
void put_image_volume(PatchBuilder& patch, const Settings& settings) {
  Json wanted = {
      {"name", kBinVolume},
      {"image", {{"reference", settings.image}, {"pullPolicy", settings.image_pull_policy}}}};
  if (const auto index = index_of(patch, kVolumes, "name", kBinVolume)) {
    const std::string reference =
        kube::string_at(*patch.at(below(kVolumes, *index)), {"image", "reference"});
    if (same_image(reference, settings.image)) wanted["image"]["reference"] = reference;
  }
  put_named(patch, kVolumes, "name", wanted);
}

}  // namespace

bool mounts_image(const JobView& job, const Settings& settings) {
  switch (settings.injection) {
    case InjectionMode::image_volume:
      return true;
    case InjectionMode::init_container:
      return false;
    case InjectionMode::automatic:
      // A RuntimeClass can select another runtime, whose image volumes the node does not report.
      return settings.has_proven_image_volumes && job.runtime_class.empty();
  }
  return false;
}

void put_wrapper_volume(PatchBuilder& patch, const JobView& job, const Settings& settings) {
  if (mounts_image(job, settings)) return put_image_volume(patch, settings);
  Json wanted = wrapper_directory();
  wanted["name"] = kBinVolume;
  put_named(patch, kVolumes, "name", wanted);
}

void put_install_container(PatchBuilder& patch, const JobView& job, const Settings& settings) {
  const auto index = index_of(patch, kInitContainers, "name", kInstallContainer);
  if (mounts_image(job, settings)) {
    if (index) patch.remove(below(kInitContainers, *index));
    return;
  }
  const Json wanted = install_container(*patch.at("/spec/template/spec"), settings);
  if (!index) {
    patch.prepend(kInitContainers, wanted);
    return;
  }
  const std::string place = below(kInitContainers, *index);
  const Json& existing = *patch.at(place);
  const Json* const mounts = kube::find(existing, {"volumeMounts"});
  const bool mounted = mounts != nullptr && mounts->is_array() && !mounts->empty() &&
                       contains((*mounts)[0], wanted["volumeMounts"][0]);
  const bool installs = mounted && kube::find(existing, {"command"}) != nullptr &&
                        existing["command"] == wanted["command"] &&
                        same_image(kube::string_at(existing, {"image"}), settings.image);
  if (!installs) patch.set(place, wanted);
}

bool is_wrapper_volume(const Json& volume, bool is_gated, const Settings& settings) {
  if (is_gated) return has_source(volume, {"emptyDir", "ephemeral", "image"});
  return contains(volume, wrapper_directory()) ||
         same_repository(kube::string_at(volume, {"image", "reference"}), settings.image);
}

bool is_install_container(const Json& container) {
  std::vector<std::string> argv = kube::strings_at(container, {"command"});
  const std::vector<std::string> args = kube::strings_at(container, {"args"});
  argv.insert(argv.end(), args.begin(), args.end());
  const auto wanted = install_command().get<std::vector<std::string>>();
  return argv.size() >= wanted.size() && std::equal(wanted.rbegin(), wanted.rend(), argv.rbegin());
}

}  // namespace cronlatch::op
