// SPDX-License-Identifier: Apache-2.0
// LockUse: what is known of how one job uses one lock, from the counters of a ledger and from a
// schedule. Pure; what it says of the settings is advice.h's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "core/lock_stats.h"

namespace cronlatch {

// Below that, figures say nothing.
inline constexpr std::int64_t kFewRuns = 5;

// How one job uses one lock. What is not known stays empty, or zero.
struct LockUse {
  std::string job;             // namespace/name; empty: the lock has no job's name
  std::string lock;            // as the store calls it
  std::string named;           // the annotation's word for it; "true": the job's own
  std::optional<Seconds> gap;  // the shortest time between two times it is due
  Millis ttl{};
  Millis min_hold{};
  std::optional<Millis> unrenewed;  // a live lease: how long ago it was renewed last
  std::optional<Millis> slow_run;   // what all but one run in twenty stay below, or the slowest
  std::string slow_run_is;          // "19 of 20 runs end within", "the slowest of 4 runs took"
  std::int64_t acquired = 0, skipped = 0, stolen = 0, lost = 0;  // skipped: because it was held
};

// The counters of a ledger as facts. No schedule is known there.
LockUse use_of(const LockView& view, const std::string& job, const Counters& counters);

// What 95 of 100 runs stay below, by the histogram of the time the lock was held, interpolated
// within a bucket; nothing for fewer than five runs, or when it lies beyond the last bucket.
std::optional<Millis> p95_hold(const Counters& counters);

}  // namespace cronlatch
