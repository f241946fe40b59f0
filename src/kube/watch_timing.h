// SPDX-License-Identifier: Apache-2.0
// The clock, random numbers and pauses of a watcher, replaceable in tests.
#pragma once

#include <functional>
#include <stop_token>

#include "base/time.h"
#include "kube/backoff.h"

namespace cronlatch::kube {

struct WatchTiming {
  const Clock& clock;
  RandomFraction random_fraction;
  // Returns after that time, or when stopped.
  std::function<void(Millis, const std::stop_token&)> pause;
};

// A generator with a random seed, for one thread.
RandomFraction real_random_fraction();

// Such a generator, and a pause that ends at once when stopped.
WatchTiming real_watch_timing(const Clock& clock);

}  // namespace cronlatch::kube
