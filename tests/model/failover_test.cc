// SPDX-License-Identifier: Apache-2.0
// S1 over failovers with the option strict, and the parts of it that cannot be omitted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "model/failover_world.h"
#include "support/long_tests.h"

namespace cronlatch::model {
namespace {

// The first seed with an overlap.
std::optional<std::uint64_t> find_overlap(const StrictVariant& variant, std::uint64_t seeds) {
  FailoverResult all;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const FailoverResult one = simulate_failovers(seed, variant);
    all.grants += one.grants;
    all.promotions += one.promotions;
    all.quarantined += one.quarantined;
    all.given_back += one.given_back;
    all.refused += one.refused;
    all.most = std::max(all.most, one.most);
    if (one.overlap.empty()) continue;
    std::printf("seed %llu, %s\n", static_cast<unsigned long long>(seed), one.overlap.c_str());
    return seed;
  }
  std::printf("%d grants, %d promotions, %d refused in quarantine, %d not acknowledged\n",
              all.grants, all.promotions, all.quarantined, all.given_back);
  EXPECT_GT(all.grants, 0);
  EXPECT_GT(all.promotions, 0);
  EXPECT_EQ(all.most, static_cast<int>(variant.slots));
  EXPECT_EQ(all.refused > 0, variant.slots_of_last > 0);
  return std::nullopt;
}

TEST(Failover, StrictRunsNeverOverlap) {
  EXPECT_FALSE(find_overlap({}, testing::is_long_run() ? 30'000 : 1'000));
}

TEST(Failover, OverlapsWithoutWait) { EXPECT_TRUE(find_overlap({.acknowledgements = 0}, 1'000)); }

// A master that is isolated together with one replica.
TEST(Failover, OverlapsWithWaitForOneOfTwoReplicas) {
  EXPECT_TRUE(find_overlap({.acknowledgements = 1}, 1'000));
}

TEST(Failover, OverlapsWithoutAQuarantine) {
  EXPECT_TRUE(find_overlap({.has_quarantine = false}, 1'000));
}

// M1, over the same failovers.
TEST(Failover, M1_StrictKeepsTheNumberOfHolders) {
  EXPECT_FALSE(find_overlap({.slots = 2}, testing::is_long_run() ? 10'000 : 1'000));
  EXPECT_FALSE(find_overlap({.slots = 3}, testing::is_long_run() ? 5'000 : 300));
}

TEST(Failover, M4_RunsWithAnotherNumberAreExcluded) {
  EXPECT_FALSE(find_overlap({.slots = 2, .slots_of_last = 1}, 500));
  EXPECT_FALSE(find_overlap({.slots = 2, .slots_of_last = 4}, 500));
}

TEST(Failover, M1_IsBrokenWithoutAQuarantine) {
  EXPECT_TRUE(find_overlap({.has_quarantine = false, .slots = 2}, 1'000));
}

TEST(Failover, M1_IsBrokenWhenTheEndOfAFurtherSlotIsIgnored) {
  EXPECT_TRUE(find_overlap({.slots = 3, .ignores_slot_end = true}, 100));
}

TEST(Failover, M4_IsBrokenWhenTheNumberIsNotCompared) {
  EXPECT_TRUE(find_overlap({.slots = 2, .slots_of_last = 3, .ignores_number = true}, 100));
}

}  // namespace
}  // namespace cronlatch::model
