// SPDX-License-Identifier: Apache-2.0
// One schedule, from its seed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "model/world/defects.h"
#include "model/world/seen.h"

namespace cronlatch::model {

struct Report {
  std::string violation;          // empty: none
  std::uint64_t trace = 0;        // hash of all events
  std::deque<std::string> lines;  // the last events, as text
  Seen seen;
};

// `keep`: how many of the last events the report contains.
Report run_schedule(std::uint64_t seed, Defect defect = Defect::none, std::size_t keep = 0);

}  // namespace cronlatch::model
