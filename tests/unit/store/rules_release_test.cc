// SPDX-License-Identifier: Apache-2.0
// Release by the rules: R1 to R4, K5, K6, C1, C2.
#include "rules_test_lock.h"

namespace cronlatch::testing {
namespace {

TEST(RulesRelease, R1IsRefusedToEverybodyButTheHolder) {
  Lock lock;
  lock.acquire("a");
  EXPECT_EQ(got<NotHolder>(lock.release("b")).reason, LostReason::taken);
  EXPECT_EQ(got<NotHolder>(lock.release("a", RunVerdict::succeeded, 2)).reason, LostReason::taken);

  EXPECT_EQ(lock.record.seat, rules::Seat::held);
  EXPECT_EQ(lock.counted("a", "released"), 0);
  EXPECT_EQ(lock.counted("b", "runs_succeeded"), 0);
}

TEST(RulesRelease, R2KeepsTheFenceAsTheFloor) {
  Lock lock;
  const auto granted = got<Granted>(lock.acquire("a"));
  lock.release("a");

  EXPECT_EQ(lock.record.fence, granted.fence);
  EXPECT_EQ(lock.record.seat, rules::Seat::free);
}

TEST(RulesRelease, R3IsCountedOnceEvenWhenAnotherHoldsByThen) {
  Lock lock;
  lock.acquire("a");
  got<Released>(lock.release("a"));
  got<Released>(lock.release("a"));
  lock.acquire("b");
  got<Released>(lock.release("a"));

  EXPECT_EQ(lock.counted("a", "released"), 1);
  EXPECT_EQ(lock.counted("a", "runs_succeeded"), 1);
  EXPECT_EQ(lock.record.seat, rules::Seat::held);
}

TEST(RulesRelease, R4MarksTheRunAsDoneIfTheCommandSucceededWhateverTheVerdict) {
  for (const bool done : {true, false})
    for (const RunVerdict verdict :
         {RunVerdict::succeeded, RunVerdict::failed, RunVerdict::timed_out, RunVerdict::lost,
          RunVerdict::cannot_start, RunVerdict::given_back, RunVerdict::ungated}) {
      Lock lock;
      lock.acquire("a");
      auto end = lock.end("a", verdict);
      end.identity.once = "tick";
      end.mark_done = done;
      lock.release(end);

      EXPECT_EQ(lock.record.once.contains("ns/a"), done);
    }
}

TEST(RulesRelease, CountsEachVerdictUnderItsName) {
  for (const auto& [verdict, name] : {std::pair{RunVerdict::succeeded, "runs_succeeded"},
                                      {RunVerdict::failed, "runs_failed"},
                                      {RunVerdict::timed_out, "runs_timed_out"},
                                      {RunVerdict::lost, "runs_lost"},
                                      {RunVerdict::lost, "lost"},
                                      {RunVerdict::cannot_start, "runs_cannot_start"},
                                      {RunVerdict::ungated, "ungated"}}) {
    Lock lock;
    lock.acquire("a");
    lock.release("a", verdict);

    EXPECT_EQ(lock.counted("a", name), 1) << name;
    EXPECT_EQ(lock.counted("a", "released"), 1) << name;
  }
}

TEST(RulesRelease, CountsNoRunForAGrantThatWasGivenBackAndKeepsNoMinHold) {
  Lock lock;
  lock.acquire("a");
  auto end = lock.end("a", RunVerdict::given_back);
  end.min_hold = 60s;
  lock.release(end);

  EXPECT_EQ(lock.record.jobs.at("ns/a").values,
            (std::map<std::string, std::int64_t, std::less<>>{{"acquired", 1}, {"released", 1}}));
  got<Granted>(lock.acquire("b"));
}

TEST(RulesRelease, CountsTheHoldAndTheOverlongRun) {
  Lock lock;
  lock.acquire("a");
  auto end = lock.end("a", RunVerdict::succeeded);
  end.held = 6s;
  end.overlong = true;
  lock.release(end);

  EXPECT_EQ(lock.counted("a", "hold_2"), 1);
  EXPECT_EQ(lock.counted("a", "hold_ms"), 6'000);
  EXPECT_EQ(lock.counted("a", "long"), 1);
  EXPECT_EQ(lock.counted("a", "last_success"), lock.now.us);
}

TEST(RulesRelease, ClosesAnExpiredLeaseThatNobodyTook) {
  Lock lock;
  lock.acquire("a");
  lock.pass(std::chrono::hours(1));

  got<Released>(lock.release("a"));
  EXPECT_EQ(lock.counted("a", "released"), 1);
}

TEST(RulesRelease, CountsALostRunOnceAfterItWasTakenOver) {
  Lock lock;
  lock.acquire("a");
  lock.pass(30s);
  lock.acquire("b");
  got<NotHolder>(lock.release("a", RunVerdict::lost));
  got<NotHolder>(lock.release("a", RunVerdict::lost));

  EXPECT_EQ(lock.counted("a", "lost"), 1);
  EXPECT_EQ(lock.counted("a", "runs_lost"), 1);
  EXPECT_EQ(lock.counted("a", "released"), 0);
}

TEST(RulesRelease, CountsAnUngatedRunOnceWhoeverHolds) {
  Lock lock;
  lock.acquire("b");
  got<NotHolder>(lock.release("a", RunVerdict::ungated));
  got<NotHolder>(lock.release("a", RunVerdict::ungated));

  EXPECT_EQ(lock.record.jobs.at("ns/a").values,
            (std::map<std::string, std::int64_t, std::less<>>{{"ungated", 1}}));
}

TEST(RulesRelease, G5ChangesNothingAfterItsTime) {
  Lock lock;
  lock.acquire("a");
  const rules::Record before = lock.record;
  const auto reply =
      rules::decide(lock.record, lock.end("a", RunVerdict::succeeded), lock.now, lock.now - 1us);

  EXPECT_FALSE(got<TooLate>(reply).closed);
  EXPECT_EQ(lock.record, before);
}

TEST(RulesRelease, K6KeepsTheNewestRunsOfEachJob) {
  Lock lock;
  for (std::uint32_t i = 1; i <= 130; ++i) {
    lock.acquire("a", i);
    auto end = lock.end("a", RunVerdict::succeeded, i);
    end.identity.once = "tick-" + std::to_string(i);
    lock.release(end);
    lock.pass(1s);
  }

  const auto& done = lock.record.once.at("ns/a");
  EXPECT_EQ(done.size(), 128u);
  EXPECT_FALSE(done.contains("tick-2"));
  EXPECT_TRUE(done.contains("tick-3"));
}

TEST(RulesRelease, K6ForgetsARunAfterOnceTtl) {
  Lock lock;
  auto ask = lock.acquisition("a");
  ask.identity.once = "tick";
  lock.acquire(ask);
  auto end = lock.end("a", RunVerdict::succeeded);
  end.identity.once = "tick";
  lock.release(end);
  auto next = lock.acquisition("a", 2);
  next.identity.once = "tick";
  lock.pass(std::chrono::hours(24) - 1us);
  Lock late = lock;
  late.pass(1us);

  EXPECT_EQ(got<Busy>(lock.acquire(next)).reason, BusyReason::done);
  got<Granted>(late.acquire(next));
}

}  // namespace
}  // namespace cronlatch::testing
