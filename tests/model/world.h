// SPDX-License-Identifier: Apache-2.0
// World: one schedule. Several real Runs request one lock in a simulated store under virtual
// time. Messages are lost, delayed, reordered and executed late; clocks differ; wrappers pause and
// crash; a user revokes the lease. The same seed gives the same schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "core/run.h"
#include "model/checker.h"
#include "model/random.h"
#include "store/memory/memory_store.h"

namespace cronlatch::model {

// Defects for the negative controls. The checker must find each of them.
struct Defects {
  bool margin_zero = false;            // the lease has no safety margin
  bool dated_after_reply = false;      // the lease starts at the answer, not at the request
  bool no_not_after = false;           // the store executes late requests
  bool release_without_owner = false;  // the store releases without a check of the owner
};

// Counts of the cases that occurred: the schedules prove nothing about a case that does not occur.
struct Seen {
  std::uint64_t granted = 0, busy = 0, stolen = 0, late = 0, lost_replies = 0, killed_by_lease = 0,
                crashes = 0, pauses = 0, revoked = 0, restored = 0, waited = 0, canceled = 0,
                forgotten = 0, rolled_back = 0, restored_older = 0, backward_steps = 0,
                leftovers = 0;
  void add(const Seen& other);
};

struct Report {
  std::string violation;    // empty: none
  std::uint64_t trace = 0;  // hash of all events
  Seen seen;
};

Report run_schedule(std::uint64_t seed, const Defects& defects, bool verbose = false);

}  // namespace cronlatch::model
