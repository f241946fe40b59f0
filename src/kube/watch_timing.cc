// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_timing.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>

namespace cronlatch::kube {

RandomFraction real_random_fraction() {
  // Shared, because std::function copies its captures.
  const auto engine = std::make_shared<std::minstd_rand>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<>(0, 1)(*engine); };
}

WatchTiming real_watch_timing(const Clock& clock) {
  return {clock, real_random_fraction(), [](Millis time, const std::stop_token& stop) {
            std::mutex mutex;
            std::condition_variable_any never;
            std::unique_lock lock(mutex);
            never.wait_for(lock, stop, time, [] { return false; });
          }};
}

}  // namespace cronlatch::kube
