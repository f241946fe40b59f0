// SPDX-License-Identifier: Apache-2.0
#include "advice/lock_use.h"

#include <algorithm>
#include <chrono>

#include "core/duration_histogram.h"

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
  const auto p95 = hold_durations().quantile(counters, 0.95, kMinRuns);
  // The last bound also stands for every longer run: no advice from a time that is too short.
  if (p95 && p95->count() >= kHoldBucketsMs.back()) return std::nullopt;
  return p95;
}

}  // namespace cronlatch
