// SPDX-License-Identifier: Apache-2.0
// A small world for the option strict: three servers, one of them the master, asynchronous
// replication, partitions and promotions, and runs that contend for one lock, also with several
// slots and with different numbers of them. The rules of a lock are the real ones; WAIT and the
// quarantine follow scripts/common_epoch.lua. Virtual time.
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
  unsigned slots = 1;
  unsigned slots_of_last = 0;     // of the last run; 0: as the others
  bool ignores_slot_end = false;  // an acquire takes the leases of the further slots for ended
  bool ignores_number = false;    // an acquire with another number of slots is not refused
};

struct FailoverResult {
  int grants = 0;  // that counted
  int promotions = 0;
  int quarantined = 0;  // grants that a quarantine refused
  int given_back = 0;   // grants that were not acknowledged
  int refused = 0;      // another number of slots
  int most = 0;         // runs that held the lock at once
  std::string overlap;  // "" when no more runs than slots held the lock at the same time
};

FailoverResult simulate_failovers(std::uint64_t seed, const StrictVariant& variant);

}  // namespace cronlatch::model
