// SPDX-License-Identifier: Apache-2.0
// What makes waiting testable: where the time, the chance and the pauses come from.
#pragma once

#include <functional>
#include <stop_token>

#include "base/time.h"
#include "kube/backoff.h"

namespace cronlatch::kube {

struct WatchTiming {
  const Clock& clock;
  Chance chance;
  // Returns after that time or when stopped.
  std::function<void(Millis, const std::stop_token&)> pause;
};

// The real one: a generator seeded by the system, and a pause that a stop ends at once.
WatchTiming real_watch_timing(const Clock& clock);

}  // namespace cronlatch::kube
