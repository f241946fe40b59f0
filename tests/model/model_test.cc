// SPDX-License-Identifier: Apache-2.0
// Schedules without a violation, and defects that the checker finds. `./dev model` runs more.
#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "model/search/search.h"
#include "support/long_tests.h"

namespace cronlatch::model {
namespace {

TEST(Model, TwoThousandSchedulesViolateNoRule) {
  const std::uint64_t schedules = testing::is_long_run() ? 50'000 : 2'000;
  const Found found = search({.first = 0, .count = schedules}, Defect::none,
                             std::max(2u, std::thread::hardware_concurrency()));
  EXPECT_EQ(found.violation, "") << explain(found.seed, Defect::none);
  for (std::size_t i = 0; i < kCaseNames.size(); ++i)
    EXPECT_GE(found.seen.counts[i], 10u) << "too rare: " << kCaseNames[i];
}

TEST(Model, TheSameSeedGivesTheSameSchedule) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(run_schedule(seed).trace, run_schedule(seed).trace) << seed;
}

}  // namespace
}  // namespace cronlatch::model
