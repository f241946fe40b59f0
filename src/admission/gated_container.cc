// SPDX-License-Identifier: Apache-2.0
#include "admission/gated_container.h"

#include <algorithm>

#include "admission/known_sidecars.h"
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

// Names the first container that is not known as a sidecar, or the only container. Among sidecars
// only, a name would be a guess: a user who copies it gates a proxy and runs the work ungated.
std::string example_for(const std::vector<ContainerView>& containers) {
  const auto work = containers.size() == 1
                        ? containers.begin()
                        : std::find_if_not(containers.begin(), containers.end(), is_known_sidecar);
  if (work == containers.end() || work->name.empty())
    return "write cronlatch.dev/container: \"NAME\", with the container that does the work as NAME";
  return "write for example cronlatch.dev/container: \"" +
         printable(work->name, kMaxShownContainerName) + "\"";
}

std::optional<std::size_t> named_container(const JobView& job, const LockRequest& request,
                                           Findings& findings) {
  if (const auto index = index_of_name(job.containers, request.container)) return index;
  const bool is_init = index_of_name(job.init_containers, request.container).has_value();
  findings.add(
      request.container_where,
      is_init ? "an init container cannot be gated" : "the pod has no container of this name",
      example_for(job.containers),
      cronlatch::quoted(request.container) + "; the pod's containers are " +
          names_of(job.containers));
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
               "no annotation names the one to gate; the others run without the lock",
               example_for(job.containers),
               std::to_string(job.containers.size()) + " containers: " + names_of(job.containers));
  return std::nullopt;
}

}  // namespace cronlatch::op
