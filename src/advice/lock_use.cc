// SPDX-License-Identifier: Apache-2.0
#include "advice/lock_use.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace cronlatch {

LockUse use_of(const LockView& view, const std::string& job, const Counters& counters) {
  LockUse use;
  use.job = job;
  use.lock = view.lock;
  use.ttl = view.ttl;
  use.acquired = counters.get("acquired");
  use.skipped = counters.get("skipped_held");
  use.stolen = counters.get("stolen");
  use.lost = counters.get("lost");
  use.slow_run = p95_hold(counters);
  if (use.slow_run) use.slow_run_label = "19 of 20 runs end within";
  if (view.slots == 1 && view.state == LockState::held && view.identity.job == job &&
      view.ttl.count() > 0 && view.expires.us != 0)
    use.since_renewal = view.ttl - std::chrono::duration_cast<Millis>(
                                       std::min(Micros(view.ttl), view.expires - view.now));
  return use;
}

std::optional<Millis> p95_hold(const Counters& counters) {
  std::array<std::int64_t, kHoldBucketsMs.size() + 1> counts{};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = std::max<std::int64_t>(counters.get("hold_" + std::to_string(i)), 0);
    total += counts[i];
  }
  if (total < kMinRuns) return std::nullopt;
  const double rank = 0.95 * static_cast<double>(total);
  double below = 0;
  for (std::size_t i = 0; i < kHoldBucketsMs.size(); ++i) {
    const double here = static_cast<double>(counts[i]);
    if (here > 0 && below + here >= rank) {
      const double low = i == 0 ? 0 : static_cast<double>(kHoldBucketsMs[i - 1]);
      const double width = static_cast<double>(kHoldBucketsMs[i]) - low;
      return Millis(static_cast<std::int64_t>(low + width * (rank - below) / here));
    }
    below += here;
  }
  return std::nullopt;
}

}  // namespace cronlatch
