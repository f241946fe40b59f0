// SPDX-License-Identifier: Apache-2.0
// A small world for the option strict: three servers, one of them the master, asynchronous
// replication, partitions and promotions, and runs that contend for one lock. The rules of a lock
// are the real ones; WAIT and the quarantine follow scripts/common_epoch.lua. Virtual time.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/strict.h"
#include "model/world/random.h"
#include "store/memory/memory_store.h"

namespace cronlatch::model {

// What a variant of the product does. The defaults are the product.
struct StrictVariant {
  std::size_t acknowledgements = 2;  // 0: no WAIT; 1: WAIT for one of two replicas
  bool has_quarantine = true;
};

struct FailoverResult {
  int grants = 0;  // that counted
  int promotions = 0;
  int quarantined = 0;  // grants that a quarantine refused
  int given_back = 0;   // grants that were not acknowledged
  std::string overlap;  // "" when no two runs held the lock at the same time
};

FailoverResult simulate_failovers(std::uint64_t seed, const StrictVariant& variant);

}  // namespace cronlatch::model
