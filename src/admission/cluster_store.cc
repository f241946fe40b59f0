// SPDX-License-Identifier: Apache-2.0
#include "admission/cluster_store.h"

namespace cronlatch::op {

std::optional<std::string> refuse_cluster_store(std::string_view url) {
  if (url.empty())
    return "the operator has no store, so it cannot gate a Job; set the chart's value store.url";
  if (url.starts_with("postgres:"))
    return "the operator does not support a postgres:// store, so it cannot gate a Job; set the "
           "chart's value store.url to a rediss:// URL, or run `cronlatch run` with a postgres:// "
           "store in the container's own command";
  return std::nullopt;
}

}  // namespace cronlatch::op
