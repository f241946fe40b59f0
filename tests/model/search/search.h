// SPDX-License-Identifier: Apache-2.0
// Search: runs schedules on all cores, and stops at the first violation.
#pragma once

#include <functional>

#include "model/world/schedule.h"

namespace cronlatch::model {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct Found {
  std::uint64_t seed = 0;
  std::string violation;  // empty: none
  std::uint64_t schedules = 0;
  Seen seen;
};

// `progress` is called at times, by one thread, with the number of schedules so far.
Found search(Range range, Defect defect, unsigned threads,
             const std::function<void(std::uint64_t)>& progress = {});

// The text of a violation: the last events, the rule, the seed and how to repeat it.
std::string explain(std::uint64_t seed, Defect defect, std::size_t events = 60);

}  // namespace cronlatch::model
