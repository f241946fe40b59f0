// SPDX-License-Identifier: Apache-2.0
// Acquire by the rules: AQ1 to AQ5, K1 to K6, L0, L7, G5, C2.
#include "rules_test_lock.h"

namespace cronlatch::testing {
namespace {

TEST(RulesAcquire, AQ1GrantsAFreeLockAndNoOtherUntilTheLeaseIsOver) {
  Lock lock;
  const auto first = got<Granted>(lock.acquire("a"));
  lock.pass(30s - 1us);
  const auto refused = got<Busy>(lock.acquire("b"));
  lock.pass(1us);
  const auto second = got<Granted>(lock.acquire("c"));

  EXPECT_TRUE(first.leased);
  EXPECT_EQ(refused.reason, BusyReason::held);
  EXPECT_EQ(refused.remaining, 1us);
  EXPECT_EQ(refused.held_for, 30s - 1us);
  EXPECT_EQ(refused.holder, "pod-a");
  EXPECT_GT(second.fence, first.fence);
}

TEST(RulesAcquire, AQ2FenceIsTheServerTimeOrOneMoreThanTheLast) {
  Lock lock;
  const auto first = got<Granted>(lock.acquire("a"));
  lock.release("a");
  lock.pass(-10s);
  const auto second = got<Granted>(lock.acquire("b"));

  EXPECT_EQ(first.fence, 1'763'690'000'000'000u);
  EXPECT_EQ(second.fence, first.fence + 1);
}

TEST(RulesAcquire, AQ3CountsAnExpiredPredecessorAsStolenOnceForItsJob) {
  Lock lock;
  const Fence lost = got<Granted>(lock.acquire("a")).fence;
  lock.pass(30s);
  const auto thief = got<Granted>(lock.acquire("b"));
  const auto again = got<Granted>(lock.acquire("b"));

  EXPECT_TRUE(thief.stole);
  EXPECT_EQ(again, thief);
  EXPECT_EQ(lock.record.stole, lost);
  EXPECT_EQ(lock.counted("a", "stolen"), 1);
  EXPECT_EQ(lock.counted("b", "stolen"), 0);
  EXPECT_EQ(lock.counted("a", "runs_lost"), 0);
}

TEST(RulesAcquire, AQ4AnswersTheSameClaimAlikeAndCountsItOnce) {
  Lock lock;
  const auto first = got<Granted>(lock.acquire("a"));
  lock.pass(10s);
  const auto again = got<Granted>(lock.acquire("a"));

  EXPECT_EQ(first, again);
  EXPECT_EQ(lock.record.expires, lock.now + 30s);
  EXPECT_EQ(lock.counted("a", "acquired"), 1);
}

TEST(RulesAcquire, AQ4RefusesAnAttemptThatIsOver) {
  Lock expired;
  expired.acquire("a");
  expired.pass(30s);
  Lock stolen = expired;
  stolen.acquire("b");
  Lock released;
  released.acquire("a");
  released.release("a");
  Lock followed = released;
  followed.acquire("a", 2);
  Lock revoked;
  revoked.acquire("a");
  rules::revoke(revoked.record, revoked.now);

  for (Lock* lock : {&expired, &stolen, &released, &followed, &revoked}) {
    const rules::Record before = lock->record;
    EXPECT_TRUE(got<TooLate>(lock->acquire("a")).closed);
    EXPECT_EQ(lock->record, before);
  }
}

TEST(RulesAcquire, AQ4RefusesAnAttemptThatWasGivenBackBeforeItArrived) {
  Lock lock;
  lock.release("a", RunVerdict::given_back);

  EXPECT_TRUE(got<TooLate>(lock.acquire("a")).closed);
  EXPECT_EQ(lock.counted("a", "acquired"), 0);
}

TEST(RulesAcquire, AQ5CountsBusyAsTheCallerWishes) {
  Lock lock;
  lock.acquire("a");
  for (const auto& [owner, wish] : {std::pair{"w", IfBusy::wait},
                                    {"s", IfBusy::skip},
                                    {"f", IfBusy::fail},
                                    {"t", IfBusy::timed_out}}) {
    auto ask = lock.acquisition(owner);
    ask.if_busy = wish;
    got<Busy>(lock.acquire(ask));
  }

  EXPECT_TRUE(lock.record.jobs.find("ns/w") == lock.record.jobs.end());
  EXPECT_EQ(lock.counted("s", "skipped_held"), 1);
  EXPECT_EQ(lock.counted("s", "runs_skipped"), 1);
  EXPECT_EQ(lock.counted("s", "last_skip"), lock.now.us);
  EXPECT_EQ(lock.counted("f", "runs_busy"), 1);
  EXPECT_EQ(lock.counted("t", "runs_busy"), 1);
  EXPECT_EQ(lock.counted("t", "wait_timeouts"), 1);
}

TEST(RulesAcquire, C2AnswersACountedSkipAlikeEvenWhenTheLockIsFreeByThen) {
  Lock lock;
  lock.acquire("a");
  lock.acquire("b");
  lock.release("a");

  EXPECT_EQ(got<Busy>(lock.acquire("b")).reason, BusyReason::held);
  EXPECT_EQ(lock.counted("b", "skipped_held"), 1);
  got<Granted>(lock.acquire("b", 2));
}

TEST(RulesAcquire, C2ForgetsACountedSkipAfterTenMinutesOrTwoLeases) {
  Lock lock;
  lock.acquire("a");
  lock.acquire("b");
  lock.pass(10min - 1us);
  got<Busy>(lock.acquire("b"));
  lock.pass(1us);

  got<Granted>(lock.acquire("b"));
}

TEST(RulesAcquire, G5ChangesNothingAfterItsTime) {
  Lock lock;
  const auto reply = rules::decide(lock.record, lock.acquisition("a"), lock.now, lock.now - 1us);

  EXPECT_FALSE(got<TooLate>(reply).closed);
  EXPECT_EQ(lock.record, rules::Record{});
}

TEST(RulesAcquire, L0KeepsTheLockClosedForTheRestOfMinHoldButNotForItsOwnGroup) {
  Lock lock;
  auto ask = lock.acquisition("a");
  ask.identity.group = "uid";
  lock.acquire(ask);
  lock.pass(4s);
  auto end = lock.end("a", RunVerdict::failed);
  end.min_hold = 60s;
  lock.release(end);
  const auto refused = got<Busy>(lock.acquire("b"));
  Lock same_group = lock;
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  lock.pass(56s);

  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_EQ(refused.remaining, 56s);
  EXPECT_FALSE(got<Granted>(same_group.acquire(retry)).stole);
  EXPECT_FALSE(got<Granted>(lock.acquire("d")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);
}

TEST(RulesAcquire, L5TellsAGroupThatWasGrantedAndDoesNotCountItsSkip) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.acquire(first);
  lock.release("a", RunVerdict::failed);
  lock.acquire("b");
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  const auto told = got<Busy>(lock.acquire(retry));
  lock.pass(std::chrono::hours(24 * 35));
  lock.acquire("b", 2);
  const auto forgotten = got<Busy>(lock.acquire(retry));

  EXPECT_TRUE(told.group_granted);
  EXPECT_FALSE(forgotten.group_granted);
  EXPECT_EQ(lock.counted("c", "skipped_held"), 1);
}

TEST(RulesAcquire, L7NeverWaitsLongerThanTheLeaseAfterTheClockWentBack) {
  Lock lock;
  lock.acquire("a");
  lock.pass(-std::chrono::hours(5));
  const auto refused = got<Busy>(lock.acquire("b"));

  EXPECT_EQ(refused.remaining, 30s);
  EXPECT_EQ(lock.record.expires, lock.now + 30s);
  EXPECT_EQ(refused.held_for, 0s);
}

TEST(RulesAcquire, K3RefusesARunThatIsDoneWhoeverAsksAndCountsItOnce) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.once = "a@100";
  lock.acquire(first);
  auto end = lock.end("a", RunVerdict::succeeded);
  end.identity.once = "a@100";
  lock.release(end);
  auto second = lock.acquisition("b");
  second.identity.job = first.identity.job;
  second.identity.once = "a@100";
  second.if_busy = IfBusy::wait;
  const auto told = got<Busy>(lock.acquire(second));
  const auto again = got<Busy>(lock.acquire(second));

  EXPECT_EQ(told.reason, BusyReason::done);
  EXPECT_EQ(again, told);
  EXPECT_EQ(lock.counted("a", "skipped_done"), 1);
  EXPECT_EQ(lock.counted("a", "runs_skipped"), 1);
}

TEST(RulesAcquire, K1DoesNotMixTheRunsOfTwoJobs) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.once = "100";
  lock.acquire(first);
  auto end = lock.end("a", RunVerdict::succeeded);
  end.identity.once = "100";
  lock.release(end);
  auto other = lock.acquisition("b");
  other.identity.once = "100";

  got<Granted>(lock.acquire(other));
}

TEST(RulesAcquire, CountsTheWaitOfAGrantThatWasWaitedFor) {
  Lock lock;
  auto ask = lock.acquisition("a");
  ask.waited = 4s;
  lock.acquire(ask);
  lock.acquire(ask);

  EXPECT_EQ(lock.counted("a", "wait_2"), 1);
  EXPECT_EQ(lock.counted("a", "wait_ms"), 4'000);
}

TEST(RulesAcquire, WithoutALeaseTheKernelTellsWhoIsDead) {
  Lock lock;
  lock.tenure = rules::Tenure::vacant;
  const auto first = got<Granted>(lock.acquire("a"));
  lock.pass(std::chrono::hours(50));
  lock.tenure = rules::Tenure::occupied;
  const auto refused = got<Busy>(lock.acquire("b"));
  lock.tenure = rules::Tenure::vacant;
  const auto thief = got<Granted>(lock.acquire("c"));

  EXPECT_FALSE(first.leased);
  EXPECT_EQ(refused.remaining, 0s);
  EXPECT_TRUE(thief.stole);
  EXPECT_EQ(lock.record.expires, ServerTime{});
}

}  // namespace
}  // namespace cronlatch::testing
