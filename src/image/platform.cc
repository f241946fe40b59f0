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

Names both(const Names& a, const Names& b) {
  Names out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

// The expressions of one term are all true of a node.
Names left_by_term(const Json& term, const Names& here) {
  std::optional<Names> named;
  Names excluded;
  for (const Json& expression : kube::items_at(term, {"matchExpressions"})) {
    if (!is_arch(expression)) continue;
    const std::string operation = kube::string_at(expression, {"operator"});
    if (operation == "In")
      named = named ? both(*named, values_of(expression)) : values_of(expression);
    if (operation == "NotIn") excluded.merge(values_of(expression));
    if (operation == "DoesNotExist") return {};
  }
  Names left = named.value_or(here);
  std::erase_if(left, [&](const std::string& name) { return excluded.count(name) != 0; });
  return left;
}

std::optional<std::string> selected(const Json& pod_spec) {
  for (const std::string_view label : {kLabel, kOldLabel})
    if (std::string arch = kube::string_at(pod_spec, {"nodeSelector", label}); !arch.empty())
      return arch;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> architectures(const Json& pod_spec, const std::vector<std::string>& here) {
  Names wanted(here.begin(), here.end());
  const std::optional<std::string> chosen = selected(pod_spec);
  if (chosen) wanted = {*chosen};
  const Json& terms = kube::items_at(
      pod_spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                 "nodeSelectorTerms"});
  Names by_terms;  // one term is enough
  for (const Json& term : terms) by_terms.merge(left_by_term(term, wanted));
  if (!terms.empty()) wanted = chosen ? both(wanted, by_terms) : by_terms;
  return {wanted.begin(), wanted.end()};
}

}  // namespace cronlatch::image
