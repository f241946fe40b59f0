// SPDX-License-Identifier: Apache-2.0
// World: one schedule. Several real Runs contend on one simulated store under virtual time;
// messages are lost, delayed, reordered and executed late, clocks err, wrappers pause and crash,
// the operator revokes. Same seed, same schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "core/run.h"
#include "model/chance.h"
#include "model/checker.h"
#include "store/memory/memory_store.h"

namespace cronlatch::model {

// Ways to break the product on purpose: each must be caught, or the checker is none.
struct Broken {
  bool margin_zero = false;        // the lease is believed in to its last microsecond
  bool dated_after_reply = false;  // the lease counts from the answer, not from before the question
  bool no_not_after = false;       // the store executes whatever arrives, whenever
  bool release_without_owner = false;  // the store releases for anybody
};

// What happened at least once: a schedule space that never meets a case proves nothing about it.
struct Seen {
  std::uint64_t granted = 0, busy = 0, stolen = 0, late = 0, lost_replies = 0, killed_by_lease = 0,
                crashes = 0, pauses = 0, revoked = 0, restored = 0, waited = 0, cancelled = 0,
                forgotten = 0, rolled_back = 0, restored_older = 0, backward_steps = 0,
                leftovers = 0;
  void add(const Seen& other);
};

struct Report {
  std::string violation;    // empty: none
  std::uint64_t trace = 0;  // hash of everything that happened
  Seen seen;
};

Report play(std::uint64_t seed, const Broken& broken, bool verbose = false);

}  // namespace cronlatch::model
