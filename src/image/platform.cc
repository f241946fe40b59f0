// SPDX-License-Identifier: Apache-2.0
#include "image/platform.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace cronlatch::image {
namespace {

using kube::Json;
using Names = std::set<std::string>;

constexpr std::string_view kLabel = "kubernetes.io/arch";
constexpr std::string_view kOldLabel = "beta.kubernetes.io/arch";

bool is_arch(const Json& expression) {
  const std::string key = kube::string_at(expression, {"key"});
  return key == kLabel || key == kOldLabel;
}

Names values_of(const Json& expression) {
  Names names;
  for (const Json& value : kube::items_at(expression, {"values"}))
    if (value.is_string()) names.insert(value.get<std::string>());
  return names;
}

Names intersection(const Names& a, const Names& b) {
  Names out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

// A node must match every expression of a term.
Names allowed_by_term(const Json& term, const Names& cluster) {
  std::optional<Names> named;
  Names excluded;
  for (const Json& expression : kube::items_at(term, {"matchExpressions"})) {
    if (!is_arch(expression)) continue;
    const std::string operation = kube::string_at(expression, {"operator"});
    if (operation == "In")
      named = named ? intersection(*named, values_of(expression)) : values_of(expression);
    if (operation == "NotIn") excluded.merge(values_of(expression));
    if (operation == "DoesNotExist") return {};
  }
  Names allowed = named.value_or(cluster);
  std::erase_if(allowed, [&](const std::string& name) { return excluded.count(name) != 0; });
  return allowed;
}

std::optional<std::string> selected_architecture(const Json& pod_spec) {
  for (const std::string_view label : {kLabel, kOldLabel})
    if (std::string arch = kube::string_at(pod_spec, {"nodeSelector", label}); !arch.empty())
      return arch;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> architectures(const Json& pod_spec,
                                       const std::vector<std::string>& cluster) {
  Names allowed(cluster.begin(), cluster.end());
  const std::optional<std::string> chosen = selected_architecture(pod_spec);
  if (chosen) allowed = {*chosen};
  const Json& terms = kube::items_at(
      pod_spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                 "nodeSelectorTerms"});
  Names by_terms;  // a node must match one of the terms
  for (const Json& term : terms) by_terms.merge(allowed_by_term(term, allowed));
  if (!terms.empty()) allowed = chosen ? intersection(allowed, by_terms) : by_terms;
  return {allowed.begin(), allowed.end()};
}

}  // namespace cronlatch::image
