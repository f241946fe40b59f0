// SPDX-License-Identifier: Apache-2.0
#include "admission/gated_container.h"

#include "base/text.h"

namespace cronlatch::op {
namespace {

constexpr std::size_t kMaxShownContainerName = 63;  // a DNS label (RFC 1123)

std::string names_of(const std::vector<ContainerView>& containers) {
  std::string names;
  for (const ContainerView& container : containers)
    names += (names.empty() ? "" : ", ") + printable(container.name, kMaxShownContainerName);
  return names;
}

std::string example_for(const std::vector<ContainerView>& containers) {
  const std::string first = containers.empty() ? "" : containers[0].name;
  return "write for example cronlatch.dev/container: \"" +
         (first.empty() ? "main" : printable(first, kMaxShownContainerName)) + "\"";
}

std::optional<std::size_t> named_container(const JobView& job, const LockRequest& request,
                                           Findings& findings) {
  if (const auto index = index_of_name(job.containers, request.container)) return index;
  const std::string name = cronlatch::quoted(request.container);
  findings.add(
      request.container_where,
      index_of_name(job.init_containers, request.container)
          ? name + " is an init container, and an init container cannot be gated"
          : "the pod has no container " + name,
      "the pod's containers are " + names_of(job.containers) + "; " + example_for(job.containers));
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> gated_container(const JobView& job, const LockRequest& request,
                                           Findings& findings) {
  if (!request.container.empty()) return named_container(job, request, findings);
  if (!job.default_container.empty())
    if (const auto index = index_of_name(job.containers, job.default_container)) return index;
  if (job.containers.size() == 1) return 0;
  if (job.containers.empty()) {
    findings.add(job.pod_path("containers"), "the pod has no container", "add the container");
    return std::nullopt;
  }
  findings.add(job.pod_path("containers"),
               "the pod has " + std::to_string(job.containers.size()) + " containers (" +
                   names_of(job.containers) + "), and no annotation names the one to gate",
               example_for(job.containers));
  return std::nullopt;
}

}  // namespace cronlatch::op
