// SPDX-License-Identifier: Apache-2.0
#include "core/duration_histogram.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

std::optional<Millis> quantile(double q, std::int64_t min_runs, const Counters& counters) {
  return hold_durations().quantile(counters, q, min_runs);
}

TEST(DurationHistogram, InterpolatesWithinABucketAsPrometheusDoes) {
  Counters counters;
  counters.values = {{"hold_2", 10}, {"hold_4", 10}};  // 5 s to 15 s, and 30 s to 60 s

  EXPECT_EQ(quantile(0.5, 1, counters), Millis(15'000));
  EXPECT_EQ(quantile(0.25, 1, counters), Millis(10'000));
  EXPECT_EQ(quantile(0.95, 1, counters), Millis(57'000));
}

TEST(DurationHistogram, ReturnsTheLastBoundForALongerRun) {
  Counters counters;
  counters.values["hold_13"] = 3;

  EXPECT_EQ(quantile(0.95, 1, counters), Millis(86'400'000));
}

TEST(DurationHistogram, ReturnsNothingForTooFewRuns) {
  Counters counters;
  EXPECT_EQ(quantile(0.95, 0, counters), std::nullopt);
  counters.values["hold_0"] = 4;
  EXPECT_EQ(quantile(0.95, 5, counters), std::nullopt);
  counters.values["hold_0"] = 5;
  EXPECT_TRUE(quantile(0.95, 5, counters).has_value());
}

// A damaged store must not make a share of a negative number.
TEST(DurationHistogram, CountsNegativeBucketsAsEmpty) {
  Counters counters;
  counters.values = {{"hold_0", -5}, {"hold_1", 4}};

  EXPECT_EQ(quantile(0.5, 1, counters), Millis(3'000));
}

}  // namespace
}  // namespace cronlatch
