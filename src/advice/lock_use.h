// SPDX-License-Identifier: Apache-2.0
// LockUse: how one job uses one lock, from the lock statistics and from a schedule. The input of
// advice.h. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "core/lease.h"
#include "core/lock_stats.h"

namespace cronlatch {

// No advice from fewer runs.
inline constexpr std::int64_t kMinRuns = 5;

// A fact that is not available is empty or zero.
struct LockUse {
  std::string job;             // namespace/name; empty: the lock is used without a job
  std::string lock;            // its name in the store
  std::string requested_name;  // the value of the annotation; "true": the job's own lock
  std::optional<Seconds> gap;  // the shortest time between two scheduled times
  Millis ttl{};
  Millis max_ttl = kMaxTtl;  // a longer one is refused (with strict the option max-ttl)
  Millis min_hold{};
  std::optional<Millis> since_renewal;  // of a live lease: the time since its last renewal
  std::optional<Millis> slow_run;  // the time within which 19 of 20 runs end, or the slowest run
  std::string slow_run_label;      // "19 of 20 runs end within", "the slowest of 4 runs took"
  std::int64_t acquired = 0, skipped = 0, stolen = 0,
               lost = 0;  // skipped: only those because the lock was held
};

// From the lock statistics, which contain no schedule.
LockUse use_of(const LockView& view, const std::string& job, const Counters& counters);

// The time within which 95 of 100 runs end, from the histogram of the time that the lock was held,
// interpolated within a bucket. Nothing for fewer than kMinRuns runs, or beyond the last bucket.
std::optional<Millis> p95_hold(const Counters& counters);

}  // namespace cronlatch
