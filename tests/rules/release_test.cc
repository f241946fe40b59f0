// SPDX-License-Identifier: Apache-2.0
// Release: R1 to R4, K5, K6, G5, C1, C2.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class ReleaseTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(ReleaseTest);

TEST_P(ReleaseTest, R1IsRefusedToEveryClaimExceptTheHolder) {
  Lock lock = new_lock();
  lock.acquire("a");
  EXPECT_EQ(got<NotHolder>(lock.release("b")).reason, LostReason::taken);
  EXPECT_EQ(got<NotHolder>(lock.release("a", RunVerdict::succeeded, 2)).reason, LostReason::taken);

  EXPECT_EQ(lock.record().state, rules::HoldState::held);
  EXPECT_EQ(lock.counted("a", "released"), 0);
  EXPECT_EQ(lock.counted("b", "runs_succeeded"), 0);
}

TEST_P(ReleaseTest, R2FreesTheLockAndKeepsTheFenceAsMinimum) {
  Lock lock = new_lock();
  const Fence fence = got<Granted>(lock.acquire("a")).fence;
  got<Released>(lock.release("a"));

  EXPECT_EQ(lock.record().state, rules::HoldState::free);
  EXPECT_EQ(lock.record().fence, fence);
}

TEST_P(ReleaseTest, R3IsCountedOnceEvenWhenAnotherRunHoldsTheLock) {
  Lock lock = new_lock();
  lock.acquire("a");
  got<Released>(lock.release("a"));
  got<Released>(lock.release("a"));
  lock.acquire("b");
  got<Released>(lock.release("a"));

  EXPECT_EQ(lock.counted("a", "released"), 1);
  EXPECT_EQ(lock.counted("a", "runs_succeeded"), 1);
  EXPECT_EQ(lock.record().state, rules::HoldState::held);
}

TEST_P(ReleaseTest, R4MarksTheRunAsDoneIfTheCommandSucceededWhateverTheVerdict) {
  Lock lock = new_lock();
  for (const bool done : {true, false})
    for (const RunVerdict verdict :
         {RunVerdict::succeeded, RunVerdict::failed, RunVerdict::timed_out, RunVerdict::lost,
          RunVerdict::cannot_start, RunVerdict::given_back, RunVerdict::ungated}) {
      lock.name += "+";
      lock.acquire("a");
      auto end = lock.end("a", verdict);
      end.identity.once = "tick";
      end.mark_done = done;
      lock.send(end);

      EXPECT_EQ(lock.record().once.contains("ns/a"), done);
    }
}

TEST_P(ReleaseTest, CountsEachVerdictUnderItsName) {
  Lock lock = new_lock();
  for (const auto& [verdict, name] : {std::pair{RunVerdict::succeeded, "runs_succeeded"},
                                      {RunVerdict::failed, "runs_failed"},
                                      {RunVerdict::timed_out, "runs_timed_out"},
                                      {RunVerdict::lost, "runs_lost"},
                                      {RunVerdict::lost, "lost"},
                                      {RunVerdict::cannot_start, "runs_cannot_start"},
                                      {RunVerdict::ungated, "ungated"}}) {
    lock.name += "+";
    lock.acquire("a");
    lock.release("a", verdict);

    EXPECT_EQ(lock.counted("a", name), 1) << name;
    EXPECT_EQ(lock.counted("a", "released"), 1) << name;
  }
}

TEST_P(ReleaseTest, CountsNoRunForAGrantThatWasGivenBackAndKeepsNoMinHold) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto end = lock.end("a", RunVerdict::given_back);
  end.min_hold = 60s;
  lock.send(end);

  EXPECT_EQ(lock.record().jobs.at("ns/a").values,
            (std::map<std::string, std::int64_t, std::less<>>{{"acquired", 1}, {"released", 1}}));
  got<Granted>(lock.acquire("b"));
}

TEST_P(ReleaseTest, CountsTheHoldAndTheOverlongRun) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto end = lock.end("a");
  end.held = 6s;
  end.overlong = true;
  lock.send(end);

  EXPECT_EQ(lock.counted("a", "hold_2"), 1);
  EXPECT_EQ(lock.counted("a", "hold_ms"), 6'000);
  EXPECT_EQ(lock.counted("a", "long"), 1);
  EXPECT_EQ(lock.counted("a", "last_success"), lock.now.us);
}

TEST_P(ReleaseTest, ClosesAnExpiredLeaseThatNoRunTookOver) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.pass(std::chrono::hours(1));
  got<Released>(lock.release("a"));

  EXPECT_EQ(lock.counted("a", "released"), 1);
}

TEST_P(ReleaseTest, CountsALostAndAnUngatedRunOnceWhileAnotherRunHolds) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.pass(30s);
  lock.acquire("b");
  for (int i = 0; i < 2; ++i) {
    got<NotHolder>(lock.release("a", RunVerdict::lost));
    got<NotHolder>(lock.release("c", RunVerdict::ungated));
  }

  EXPECT_EQ(lock.counted("a", "lost"), 1);
  EXPECT_EQ(lock.counted("a", "runs_lost"), 1);
  EXPECT_EQ(lock.counted("a", "released"), 0);
  EXPECT_EQ(lock.record().jobs.at("ns/c").values,
            (std::map<std::string, std::int64_t, std::less<>>{{"ungated", 1}}));
}

TEST_P(ReleaseTest, G5ChangesNothingAfterItsDeadline) {
  Lock lock = new_lock();
  lock.acquire("a");
  const auto before = lock.record();

  EXPECT_FALSE(got<TooLate>(lock.send(lock.end("a"), lock.now - 1us)).closed);
  EXPECT_EQ(lock.record(), before);
}

TEST_P(ReleaseTest, K6KeepsTheNewest128RunsOfTheJobForOnceTtl) {
  Lock lock = new_lock();
  for (std::uint32_t i = 1; i <= 130; ++i) {
    lock.acquire("a", i);
    auto end = lock.end("a", RunVerdict::succeeded, i);
    end.identity.once = "tick-" + std::to_string(i);
    lock.send(end);
    lock.pass(1s);
  }
  const auto done = lock.record().once.at("ns/a");
  auto next = lock.acquisition("a", 131);
  next.identity.once = "tick-130";
  lock.pass(std::chrono::hours(24) - 1s - 1us);
  const auto remembered = lock.send(next);
  lock.pass(1us);
  next.claim.attempt = 132;

  EXPECT_EQ(done.size(), 128u);
  EXPECT_FALSE(done.contains("tick-2"));
  EXPECT_TRUE(done.contains("tick-3"));
  EXPECT_EQ(got<Busy>(remembered).reason, BusyReason::done);
  got<Granted>(lock.send(next));
}

}  // namespace
}  // namespace cronlatch::testing
