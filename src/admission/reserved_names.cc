// SPDX-License-Identifier: Apache-2.0
#include "admission/reserved_names.h"

#include <algorithm>
#include <filesystem>

#include "admission/store_volume.h"
#include "admission/wrapper_source.h"
#include "labels/gate_argv.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

// Kubernetes compares mount paths as text, so two texts can mount one directory twice.
std::string normalized(const std::string& mount_path) {
  std::string path = std::filesystem::path(mount_path).lexically_normal();
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

bool runs_gate(const JobView& job) {
  return std::any_of(
      job.containers.begin(), job.containers.end(),
      [](const ContainerView& container) { return find_gate(container.argv()).has_value(); });
}

// One finding for each item of the list in the pod's spec that has the name, and is not accepted.
template <class IsAccepted>
void check_items(const JobView& job, const char* list, std::string_view name, const char* kind,
                 const std::string& added, IsAccepted is_accepted, Findings& findings) {
  std::size_t index = 0;
  for (const Json& item : kube::items_at(*job.pod_spec, {list})) {
    if (kube::string_at(item, {"name"}) == name && !is_accepted(item))
      findings.add(job.pod_path(std::string(list) + "[" + std::to_string(index) + "].name"),
                   std::string(name) + " is reserved for " + added + " that the operator adds",
                   std::string("rename the ") + kind);
    ++index;
  }
}

void check_mount_paths(const JobView& job, std::size_t container, Findings& findings) {
  const auto& mounts = job.containers[container].volume_mounts;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string& name = mounts[i].name;
    const std::string path = normalized(mounts[i].mount_path);
    if ((path == kBinDirectory && name != kBinVolume) ||
        (path == kStoreDirectory && name != kStoreVolume))
      findings.add(
          job.container_path(container) + ".volumeMounts[" + std::to_string(i) + "].mountPath",
          mounts[i].mount_path + " is reserved for a volume that the operator adds",
          "mount the volume at another path");
  }
}

}  // namespace

void check_reserved_names(const JobView& job, std::size_t container, const Settings& settings,
                          Findings& findings) {
  const bool is_gated = runs_gate(job);
  check_items(
      job, "volumes", kBinVolume, "volume", "a volume",
      [&](const Json& volume) { return is_wrapper_volume(volume, is_gated, settings); }, findings);
  check_items(
      job, "volumes", kStoreVolume, "volume", "a volume",
      [&](const Json& volume) { return is_store_volume(volume, is_gated); }, findings);
  check_items(job, "initContainers", kInstallContainer, "init container", "an init container",
              is_install_container, findings);
  check_items(
      job, "containers", kInstallContainer, "container", "an init container",
      [](const Json&) { return false; }, findings);
  check_mount_paths(job, container, findings);
}

}  // namespace cronlatch::op
