// SPDX-License-Identifier: Apache-2.0
// The holder of a gated pod: "shop/nightly-29-abc@eu-1", with the name of its cluster. The operator
// writes it; the operator and the plugin read it.
#pragma once

#include <string>
#include <string_view>

namespace cronlatch {

// "@eu-1", behind namespace and pod; "" without a name.
inline std::string cluster_suffix(std::string_view cluster) {
  return cluster.empty() ? "" : '@' + std::string(cluster);
}

// At most 63 letters, digits, '-', '.' and '_'.
inline bool is_cluster_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
  return !name.empty() && name.size() <= 63 &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

// "" for a holder that is no gated pod, or whose cluster has no name.
inline std::string_view cluster_of(std::string_view holder) {
  const std::size_t at = holder.rfind('@');
  if (at == std::string_view::npos || holder.find('/') > at) return "";
  const std::string_view name = holder.substr(at + 1);
  return is_cluster_name(name) ? name : "";
}

}  // namespace cronlatch
