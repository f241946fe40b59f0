// SPDX-License-Identifier: Apache-2.0
#include "base/rate_budget.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

int taken(RateBudget& budget, const std::string& key, TimePoint now, int attempts = 100) {
  int count = 0;
  for (int i = 0; i < attempts; ++i) count += budget.take(key, now) ? 1 : 0;
  return count;
}

TEST(RateBudget, GivesEachKeyAQuarterOfTheWhole) {
  RateBudget budget(40);
  const TimePoint now{Seconds(1'000)};
  EXPECT_EQ(taken(budget, "a", now), 10);
  EXPECT_EQ(taken(budget, "b", now), 10);
  EXPECT_EQ(taken(budget, "c", now), 10);
  EXPECT_EQ(taken(budget, "d", now, 9), 9);
  EXPECT_EQ(taken(budget, "e", now), 1) << "the whole is used up";
}

TEST(RateBudget, RefillsInProportionToTheTime) {
  RateBudget budget(40);
  TimePoint now{Seconds(1'000)};
  taken(budget, "a", now);
  now += Seconds(6);
  EXPECT_EQ(taken(budget, "a", now), 1);
  now += Seconds(3'600);
  EXPECT_EQ(taken(budget, "a", now), 10) << "no more than that of one minute";
}

TEST(RateBudget, GivesEachKeyAtLeastOne) {
  RateBudget budget(2);
  EXPECT_EQ(taken(budget, "a", TimePoint{Seconds(1'000)}), 1);
  EXPECT_EQ(taken(budget, "b", TimePoint{Seconds(1'000)}), 1);
}

}  // namespace
}  // namespace cronlatch
