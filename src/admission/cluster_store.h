// SPDX-License-Identifier: Apache-2.0
// Which stores the operator supports: fewer than the wrapper.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cronlatch::op {

// Why the operator cannot gate a Job with this store, and the fix; no value when it can.
std::optional<std::string> refuse_cluster_store(std::string_view url);

}  // namespace cronlatch::op
