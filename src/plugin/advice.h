// SPDX-License-Identifier: Apache-2.0
// Advice: what the figures of a lock say about its settings. Pure: facts in, advice out, each with
// its reason and with what to set. Silence where a fact is not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger.h"
#include "core/time.h"

namespace cronlatch::plugin {

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

struct Advice {
  std::string about;  // ttl, schedule, min-hold, skips, name: a closed list
  std::string job, lock;
  std::string reason;  // what was seen
  std::string set;     // the annotation (which is the option's name, too) or the field to change
};

// Sorted by job, then by what it is about.
std::vector<Advice> advise(const std::vector<LockUse>& uses);

// The counters of a ledger as facts. No schedule is known there.
LockUse use_of(const LockView& view, const std::string& job, const Counters& counters);

// What 95 of 100 runs stay below, by the histogram of the time the lock was held, interpolated
// within a bucket; nothing for fewer than five runs, or when it lies beyond the last bucket.
std::optional<Millis> p95_hold(const Counters& counters);

}  // namespace cronlatch::plugin
