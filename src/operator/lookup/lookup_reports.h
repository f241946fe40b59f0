// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "base/time.h"
#include "registry/registry_query.h"

namespace cronlatch::op {

// Where ImageLookup reports its work, for metrics. Called on any thread.
struct LookupReports {
  std::function<void(std::string_view result)> answered;  // index, cache, registry, error
  std::function<void(Micros took)> looked_up;             // after the lookup of an image
  registry::RequestReport requested{};                    // after each request to a registry
  // Before the lookup of an image, and after it, on the same thread.
  std::function<void()> began = [] {};
  std::function<void()> ended = [] {};
};

}  // namespace cronlatch::op
