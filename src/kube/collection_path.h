// SPDX-License-Identifier: Apache-2.0
// The paths of collections: of the whole cluster, or of some namespaces. A ClusterRole permits the
// first, Roles permit the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cronlatch::kube {

struct Resource {
  std::string_view group_version;  // "/apis/batch/v1", "/api/v1"
  std::string_view name;           // "jobs"
};

// "/apis/batch/v1/jobs", or "/apis/batch/v1/namespaces/shop/jobs" for each of the namespaces.
inline std::vector<std::string> paths_of(const Resource& resource,
                                         const std::vector<std::string>& namespaces) {
  const std::string group_version(resource.group_version);
  const std::string name = "/" + std::string(resource.name);
  if (namespaces.empty()) return {group_version + name};
  std::vector<std::string> paths;
  for (const std::string& one : namespaces)
    paths.push_back(group_version + "/namespaces/" + one + name);
  return paths;
}

}  // namespace cronlatch::kube
