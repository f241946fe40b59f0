// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "base/time.h"

namespace cronlatch::op {

// Where ImageLookup reports its work, for metrics. Called on any thread.
struct LookupReports {
  std::function<void(std::string_view result)> answered;  // index, cache, registry, error
  std::function<void(Micros took)> looked_up;             // after each request to a registry
  // Before each request to a registry, and after it, on the same thread.
  std::function<void()> began = [] {};
  std::function<void()> ended = [] {};
};

}  // namespace cronlatch::op
