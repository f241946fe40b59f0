// SPDX-License-Identifier: Apache-2.0
#include "admission/windows_pod.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

constexpr std::array<std::string_view, 2> kLabels = {"kubernetes.io/os", "beta.kubernetes.io/os"};
constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";

bool requires_windows(const Json& expression) {
  const auto& values = kube::items_at(expression, {"values"});
  return std::find(kLabels.begin(), kLabels.end(), string_at(expression, {"key"})) !=
             kLabels.end() &&
         string_at(expression, {"operator"}) == "In" && values.size() == 1 &&
         values[0] == "windows";
}

// A node must match every expression of one of the terms.
bool term_requires_windows(const Json& term) {
  const auto& expressions = kube::items_at(term, {"matchExpressions"});
  return std::any_of(expressions.begin(), expressions.end(), requires_windows);
}

}  // namespace

std::vector<std::string> windows_fields(const Json& pod_spec) {
  std::vector<std::string> fields;
  if (string_at(pod_spec, {"os", "name"}) == "windows") fields.emplace_back("os.name");
  for (const std::string_view label : kLabels)
    if (string_at(pod_spec, {"nodeSelector", label}) == "windows")
      fields.push_back("nodeSelector[" + std::string(label) + "]");
  const auto& terms =
      kube::items_at(pod_spec, {"affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  if (!terms.empty() && std::all_of(terms.begin(), terms.end(), term_requires_windows))
    fields.push_back(std::string("affinity.nodeAffinity.") + kRequired);
  return fields;
}

}  // namespace cronlatch::op
