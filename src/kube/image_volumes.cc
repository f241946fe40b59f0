// SPDX-License-Identifier: Apache-2.0
#include "kube/image_volumes.h"

#include <charconv>
#include <compare>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace cronlatch::kube {
namespace {

constexpr std::size_t kMaxShown = 60;

struct Version {
  int major = 0, minor = 0;
  auto operator<=>(const Version&) const = default;
};

// From 1.36 the feature gate ImageVolume is locked to true (pkg/features/kube_features.go); in 1.35
// it can be disabled. No API server is older than a kubelet of its cluster.
constexpr Version kKubelet{1, 36};
// containerd has image volumes from 2.1. k3s 1.36.1 with its containerd 2.2.3 mounted an empty
// folder (k3s-io/k3s#14323), and its next version with 2.3.2 did not; the tests use 2.3.7. CRI-O:
// the KEP required noexec until June 2025, and no version was tested.
constexpr std::string_view kContainerd = "containerd://";
constexpr Version kContainerdVersion{2, 3};

// "v1.36.3", "2.3.2-k3s1"
std::optional<Version> parse_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  Version version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc()) return std::nullopt;
  return version;
}

}  // namespace

std::string why_no_image_volumes(const Json& node) {
  if (is_true(node, {"spec", "unschedulable"})) return "";
  if (string_at(node, {"status", "nodeInfo", "operatingSystem"}) == "windows") return "";
  const std::string kubelet = string_at(node, {"status", "nodeInfo", "kubeletVersion"});
  if (parse_version(kubelet).value_or(Version{}) < kKubelet)
    return "kubelet " + quoted(kubelet, kMaxShown) + " is older than 1.36";
  const std::string runtime = string_at(node, {"status", "nodeInfo", "containerRuntimeVersion"});
  const std::string_view version = std::string_view(runtime).substr(
      runtime.starts_with(kContainerd) ? kContainerd.size() : runtime.size());
  if (parse_version(version).value_or(Version{}) < kContainerdVersion)
    return "container runtime " + quoted(runtime, kMaxShown) + " is not containerd 2.3 or newer";
  return "";
}

}  // namespace cronlatch::kube
