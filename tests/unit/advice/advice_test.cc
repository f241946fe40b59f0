// SPDX-License-Identifier: Apache-2.0
// Each kind of advice: a value that leads to it, and a close value that does not.
#include "advice/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LockUse healthy() {
  LockUse use;
  use.job = use.lock = "shop/nightly";
  use.requested_name = "true";
  use.gap = Seconds(300);
  use.ttl = Millis(120'000);
  use.slow_run = Millis(60'000);
  use.slow_run_label = "19 of 20 runs end within";
  use.acquired = 100;
  use.skipped = 3;
  return use;
}

std::vector<std::string> subjects(const std::vector<LockUse>& uses) {
  std::vector<std::string> out;
  for (const Advice& one : advise(uses)) out.push_back(one.about);
  return out;
}

TEST(Advice, IsEmptyForAHealthyLock) {
  EXPECT_THAT(advise({healthy()}), IsEmpty());
  EXPECT_THAT(advise({LockUse{}}), IsEmpty());  // no facts
}

TEST(Advice, LateRenewalLeadsToALongerTtl) {
  LockUse use = healthy();
  use.since_renewal = Millis(60'000);
  EXPECT_THAT(subjects({use}), IsEmpty());
  use.since_renewal = Millis(61'000);
  ASSERT_THAT(subjects({use}), ElementsAre("ttl"));
  EXPECT_EQ(advise({use})[0].set, "cronlatch.dev/ttl: \"4m\"");
}

TEST(Advice, LeasesThatEndWithoutRenewalLeadToALongerTtlUpToItsLimit) {
  LockUse use = healthy();
  use.stolen = 4;
  EXPECT_THAT(subjects({use}), IsEmpty());
  use.lost = 1;
  EXPECT_THAT(subjects({use}), ElementsAre("ttl"));
  use.ttl = Millis(3'000'000);
  EXPECT_EQ(advise({use})[0].set, "cronlatch.dev/ttl: \"1h\"");
  use.ttl = Millis(3'600'000);
  EXPECT_THAT(subjects({use}), IsEmpty());
  // max-ttl of a strict store
  use.ttl = Millis(400'000);
  use.max_ttl = Millis(600'000);
  EXPECT_EQ(advise({use})[0].set, "cronlatch.dev/ttl: \"10m\"");
  use.ttl = use.max_ttl;
  EXPECT_THAT(subjects({use}), IsEmpty());
}

TEST(Advice, RunsLongerThanTheirIntervalAreReportedWithoutTheirSkips) {
  LockUse use = healthy();
  use.slow_run = Millis(300'000);
  EXPECT_THAT(subjects({use}), IsEmpty());
  use.slow_run = Millis(400'000);
  use.skipped = 200;
  ASSERT_THAT(subjects({use}), ElementsAre("schedule"));
  EXPECT_THAT(advise({use})[0].set, HasSubstr("every 10m"));
  EXPECT_THAT(advise({use})[0].set, HasSubstr("cronlatch.dev/max-run: \"270s\""));
}

TEST(Advice, MinHoldLongerThanTheIntervalIsReported) {
  LockUse use = healthy();
  use.min_hold = Millis(300'000);
  EXPECT_THAT(subjects({use}), IsEmpty());
  use.min_hold = Millis(301'000);
  EXPECT_THAT(subjects({use}), ElementsAre("min-hold"));
}

TEST(Advice, MoreSkipsThanRunsAreReported) {
  LockUse use = healthy();
  use.acquired = use.skipped = 10;
  EXPECT_THAT(subjects({use}), IsEmpty());
  use.skipped = 11;
  EXPECT_THAT(subjects({use}), ElementsAre("skips"));
  use.acquired = 0;
  use.skipped = 4;  // too few for advice
  EXPECT_THAT(subjects({use}), IsEmpty());
}

TEST(Advice, OwnLockOfAnotherCronJobIsReported) {
  LockUse owner = healthy();
  LockUse other = healthy();
  other.job = "shop/weekly";
  other.requested_name = "nightly";

  const auto advice = advise({owner, other});

  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].job, "shop/weekly");
  EXPECT_THAT(advice[0].reason, HasSubstr("shop/nightly"));
}

TEST(Advice, SharedLockIsReportedOnlyUnderACommonName) {
  LockUse a = healthy(), b = healthy();
  a.job = "shop/a";
  b.job = "shop/b";
  for (LockUse* use : {&a, &b}) use->lock = "shop/database", use->requested_name = "database";
  EXPECT_THAT(advise({a, b}), IsEmpty());
  for (LockUse* use : {&a, &b}) use->lock = "shop/lock", use->requested_name = "lock";
  EXPECT_THAT(subjects({a, b}), ElementsAre("name", "name"));
}

TEST(Advice, NamesThatDifferOnlyByCaseOrDashAreReported) {
  LockUse a = healthy(), b = healthy();
  a.job = "shop/a", a.lock = "shop/load-data", a.requested_name = "load-data";
  b.job = "shop/b", b.lock = "shop/Load_data", b.requested_name = "Load_data";
  EXPECT_THAT(subjects({a, b}), ElementsAre("name"));
  b.lock = "bank/load-data";
  EXPECT_THAT(advise({a, b}), IsEmpty());
}

TEST(Advice, HistogramGivesTheTimeWithinWhichNineteenOfTwentyRunsEnd) {
  Counters counters;
  counters.values["hold_3"] = 4;  // 15 s to 30 s
  EXPECT_EQ(p95_hold(counters), std::nullopt);
  counters.values["hold_3"] = 100;
  EXPECT_EQ(p95_hold(counters), Millis(29'250));
  counters.values["hold_13"] = 100;  // beyond the last bound
  EXPECT_EQ(p95_hold(counters), std::nullopt);
}

TEST(Advice, LiveLeaseGivesTheTimeSinceItsRenewal) {
  LockView view;
  view.lock = "a/b";
  view.state = LockState::held;
  view.identity.job = "a/b";
  view.ttl = Millis(120'000);
  view.now = {1'000'000'000};
  view.expires = view.now + Seconds(50);

  EXPECT_EQ(use_of(view, "a/b", {}).since_renewal, Millis(70'000));
  EXPECT_EQ(use_of(view, "a/c", {}).since_renewal, std::nullopt);
}

}  // namespace
}  // namespace cronlatch
