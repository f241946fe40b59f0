// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/pod_version.h"

#include <charconv>

#include "operator/reconcile/field_times.h"

namespace cronlatch::op {

std::uint64_t version_number(std::string_view resource_version) {
  std::uint64_t number = 0;
  const char* const end = resource_version.data() + resource_version.size();
  const auto [rest, error] = std::from_chars(resource_version.data(), end, number);
  return error == std::errc() && rest == end ? number : 0;
}

PodVersion version_of(const kube::Json& pod, WallTime finished) {
  return {kube::string_at(pod, {"metadata", "uid"}),
          kube::string_at(pod, {"metadata", "namespace"}),
          version_number(kube::string_at(pod, {"metadata", "resourceVersion"})),
          containers_written(pod).value_or(WallTime{}),
          finished,
          !kube::items_at(pod, {"metadata", "finalizers"}).empty()};
}

}  // namespace cronlatch::op
