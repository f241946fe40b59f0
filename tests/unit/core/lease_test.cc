// SPDX-License-Identifier: Apache-2.0
// The sums of docs/guarantees.md, "Symbols" and "Child's fate".
#include "core/lease.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

TimingOptions request(Millis ttl) {
  return {.ttl = ttl, .renew_every = {}, .op_timeout = {}, .kill_after = Millis(10'000)};
}

TEST(Timings, FollowTheTableForThirtySeconds) {
  const Timings t = *plan_timings(request(Millis(30'000)));
  EXPECT_EQ(t.renew_every, Millis(10'000));
  EXPECT_EQ(t.op_timeout, Millis(3'000));
  EXPECT_EQ(t.retry_gap, Millis(1'000));
  EXPECT_EQ(t.margin, Millis(1'000));
  EXPECT_EQ(t.grace, Millis(10'000));
  const Lease lease{TimePoint{}};
  EXPECT_EQ(lease.term_at(t), TimePoint{} + Seconds(18));
  EXPECT_EQ(lease.kill_at(t), TimePoint{} + Seconds(28));
  EXPECT_EQ(lease.reaped_by(t), TimePoint{} + Seconds(29));
}

TEST(Timings, GiveALargeTreeMoreTimeToBeReaped) {
  EXPECT_EQ(reap_time(0), Millis(1'000));
  EXPECT_EQ(reap_time(6'600), Millis(1'000));
  EXPECT_EQ(reap_time(30'000), Millis(3'800));
}

TEST(Timings, LeaveSevenTenthsOfASecondForTheSmallestLease) {
  const Timings t = *plan_timings(request(kMinTtl));
  EXPECT_GE(t.grace, Millis(700));
  EXPECT_LT(t.grace, Millis(730));
}

TEST(Timings, TolerateTheOutagesThatAreDocumented) {
  EXPECT_EQ(plan_timings(request(Millis(120'000)))->outage_tolerance(), Millis(96'100));
  EXPECT_EQ(plan_timings(request(Millis(60'000)))->outage_tolerance(), Millis(36'700));
  EXPECT_EQ(plan_timings(request(Millis(30'000)))->outage_tolerance(), Millis(7'000));
}

TEST(Timings, NeverSpendMoreThanTheLease) {
  for (Millis ttl = kMinTtl; ttl <= kMaxTtl; ttl += Millis(777)) {
    const Result<Timings> t = plan_timings(request(ttl));
    ASSERT_TRUE(t.ok()) << ttl.count();
    EXPECT_LE(
        t->renew_every * 11 / 10 + t->op_timeout + t->retry_gap + t->grace + t->reap + t->margin,
        ttl);
    EXPECT_GE(t->margin, ttl / 100 + Millis(700));
    EXPECT_GE(t->grace, Millis(200));
  }
}

TEST(Timings, RefuseWhatCannotHoldAndNameTheSmallestTtlThatWould) {
  TimingOptions w = request(Millis(30'000));
  w.renew_every = Millis(26'000);
  const Result<Timings> t = plan_timings(w);
  ASSERT_FALSE(t.ok());
  EXPECT_EQ(t.error().code, Code::config);
  EXPECT_NE(t.error().message.find("ttl - 1.1 renew-every"), std::string::npos)
      << t.error().message;
  EXPECT_NE(t.error().hint.find("smallest ttl for these is 35s"), std::string::npos)
      << t.error().hint;
  w.ttl = Millis(35'000);
  EXPECT_TRUE(plan_timings(w).ok());
  w.ttl = Millis(34'000);
  EXPECT_FALSE(plan_timings(w).ok());
}

TEST(Timings, KeepAShortKillAfterAsItIs) {
  TimingOptions w = request(Millis(120'000));
  w.kill_after = Millis(0);
  EXPECT_EQ(plan_timings(w)->grace, Millis(0));
}

}  // namespace
}  // namespace cronlatch
