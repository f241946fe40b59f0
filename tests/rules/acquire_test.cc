// SPDX-License-Identifier: Apache-2.0
// Acquire: AQ1 to AQ5, K1 to K6, L0, L7, G5, C2 (docs/guarantees.md).
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class AcquireTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(AcquireTest);

TEST_P(AcquireTest, AQ1GrantsAFreeLockAndNoOtherUntilTheLeaseIsOver) {
  Lock lock = new_lock();
  const auto first = got<Granted>(lock.acquire("a"));
  lock.pass(30s - 1us);
  const auto refused = got<Busy>(lock.acquire("b"));
  lock.pass(1us);
  const auto second = got<Granted>(lock.acquire("c"));

  EXPECT_TRUE(first.leased);
  EXPECT_EQ(refused, (Busy{BusyReason::held, "pod-a", "ns/a", first.fence, 30s - 1us, 1us, false}));
  EXPECT_EQ(second.fence, first.fence + 30'000'000);
}

TEST_P(AcquireTest, AQ2FenceIsTheServerTimeOrOneMoreThanTheLast) {
  Lock lock = new_lock();
  lock.now = {1'795'201'626'198'651};
  const auto first = got<Granted>(lock.acquire("a"));
  lock.release("a");
  lock.pass(-10s);
  const auto second = got<Granted>(lock.acquire("b"));

  EXPECT_EQ(first.fence, 1'795'201'626'198'651u);
  EXPECT_EQ(second.fence, 1'795'201'626'198'652u);
  EXPECT_EQ(lock.record().fence, 1'795'201'626'198'652u);
}

TEST_P(AcquireTest, AQ3CountsAnExpiredPredecessorAsStolenOnce) {
  Lock lock = new_lock();
  const Fence lost = got<Granted>(lock.acquire("a")).fence;
  lock.pass(30s);
  const auto second = got<Granted>(lock.acquire("b"));
  const auto again = got<Granted>(lock.acquire("b"));

  EXPECT_TRUE(second.stole);
  EXPECT_EQ(again, second);
  EXPECT_EQ(lock.record().stole, lost);
  EXPECT_EQ(lock.counted("a", "stolen"), 1);
  EXPECT_EQ(lock.counted("b", "stolen"), 0);
  EXPECT_EQ(lock.counted("a", "runs_lost"), 0);
}

TEST_P(AcquireTest, AQ4RepeatedClaimGetsTheSameAnswerAndIsCountedOnce) {
  Lock lock = new_lock();
  const auto first = got<Granted>(lock.acquire("a"));
  lock.pass(10s);
  const auto again = got<Granted>(lock.acquire("a"));

  EXPECT_EQ(first, again);
  EXPECT_EQ(lock.record().expires, lock.now + 30s);
  EXPECT_EQ(lock.counted("a", "acquired"), 1);
}

TEST_P(AcquireTest, AQ4RefusesAnAttemptThatIsOver) {
  Lock lock = new_lock();
  const auto is_over = [&](const std::string& how) {
    const auto before = lock.record();
    EXPECT_TRUE(got<TooLate>(lock.acquire("a")).closed) << how;
    EXPECT_EQ(lock.record(), before) << how;
    lock.name += "+";
  };
  lock.acquire("a");
  lock.pass(30s);
  is_over("expired");
  lock.acquire("a");
  lock.pass(30s);
  lock.acquire("b");
  is_over("stolen");
  lock.acquire("a");
  lock.release("a");
  is_over("released");
  lock.acquire("a", 2);
  is_over("followed");
  lock.acquire("a");
  lock.revoke();
  is_over("revoked");
  lock.release("a", RunVerdict::given_back);
  is_over("given back before it arrived");
}

TEST_P(AcquireTest, AQ5CountsBusyAsTheRequestSelectsAndForItsJob) {
  Lock lock = new_lock();
  lock.acquire("a");
  const auto acquire_with = [&](const std::string& owner, IfBusy if_busy) {
    auto request = lock.acquisition(owner);
    request.if_busy = if_busy;
    got<Busy>(lock.send(request));
  };
  const auto before = lock.record();
  acquire_with("w", IfBusy::wait);
  rules::Record after = lock.record();
  EXPECT_EQ(after.queue.size(), 1u);
  after.queue.clear();
  after.asked.clear();
  EXPECT_EQ(after, before);
  acquire_with("s", IfBusy::skip);
  acquire_with("f", IfBusy::fail);
  acquire_with("t", IfBusy::timed_out);

  EXPECT_EQ(lock.counted("s", "skipped_held"), 1);
  EXPECT_EQ(lock.counted("s", "runs_skipped"), 1);
  EXPECT_EQ(lock.counted("s", "last_skip"), lock.now.us);
  EXPECT_EQ(lock.counted("f", "runs_busy"), 1);
  EXPECT_EQ(lock.counted("f", "skipped_held"), 0);
  EXPECT_EQ(lock.counted("t", "runs_busy"), 1);
  EXPECT_EQ(lock.counted("t", "wait_timeouts"), 1);
}

TEST_P(AcquireTest, C2RepeatsACountedSkipEvenWhenTheLockIsFreeMeanwhile) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.acquire("b");
  lock.release("a");

  EXPECT_EQ(got<Busy>(lock.acquire("b")).reason, BusyReason::held);
  EXPECT_EQ(lock.counted("b", "skipped_held"), 1);
  got<Granted>(lock.acquire("b", 2));
}

TEST_P(AcquireTest, C2ForgetsACountedSkipAfterTenMinutes) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.acquire("b");
  lock.pass(10min - 1us);
  got<Busy>(lock.acquire("b"));
  lock.pass(1us);

  got<Granted>(lock.acquire("b"));
}

TEST_P(AcquireTest, G5ChangesNothingAfterItsDeadline) {
  Lock lock = new_lock();
  const auto late = lock.send(lock.acquisition("a"), lock.now - 1us);
  EXPECT_FALSE(got<TooLate>(late).closed);
  EXPECT_TRUE(lock.is_empty());
  got<Granted>(lock.send(lock.acquisition("a"), lock.now));
}

TEST_P(AcquireTest, K3RefusesAFinishedRunOfEveryOwnerAndCountsItOnce) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.once = "tick";
  got<Granted>(lock.send(first));
  auto end = lock.end("a");
  end.identity.once = "tick";
  got<Released>(lock.send(end));
  auto second = lock.acquisition("b");
  second.identity.job = "ns/a";
  second.identity.once = "tick";
  second.if_busy = IfBusy::wait;
  const auto answer = got<Busy>(lock.send(second));
  const auto again = got<Busy>(lock.send(second));
  auto other_job = lock.acquisition("c");
  other_job.identity.once = "tick";

  EXPECT_EQ(answer.reason, BusyReason::done);
  EXPECT_EQ(again, answer);
  EXPECT_EQ(lock.counted("a", "skipped_done"), 1);
  EXPECT_EQ(lock.counted("a", "runs_skipped"), 1);
  got<Granted>(lock.send(other_job));  // K1: identities of two jobs are independent
}

TEST_P(AcquireTest, K4RecordsTheRunIdentityWithTheGrantUntilTheLeaseEnds) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.once = "tick";
  lock.send(first);
  auto second = lock.acquisition("b");
  second.identity.job = "ns/a";
  second.identity.once = "tick";
  const auto while_live = got<Busy>(lock.send(second));
  lock.pass(30s);
  second.claim.attempt = 2;

  EXPECT_EQ(while_live.reason, BusyReason::held);
  EXPECT_EQ(lock.record().identity.once, "tick");
  got<Granted>(lock.send(second));  // K5: a lost run can be granted again
}

TEST_P(AcquireTest, L0KeepsTheLockClosedForTheRestOfMinHoldButNotForItsOwnGroup) {
  Lock lock = new_lock();
  auto request = lock.acquisition("a");
  request.identity.group = "uid";
  lock.send(request);
  lock.pass(4s);
  auto end = lock.end("a", RunVerdict::failed);
  end.min_hold = 60s;
  lock.send(end);
  const auto refused = got<Busy>(lock.acquire("b"));
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  const auto own = got<Granted>(lock.send(retry));
  auto end_again = lock.end("c", RunVerdict::failed);
  end_again.min_hold = 60s;
  lock.send(end_again);
  lock.pass(60s);

  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_EQ(refused.remaining, 56s);
  EXPECT_FALSE(own.stole);
  EXPECT_FALSE(got<Granted>(lock.acquire("d")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);
  EXPECT_EQ(lock.counted("c", "stolen"), 0);
}

TEST_P(AcquireTest, L0ClampDoesNotShortenTheRestOfMinHold) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto end = lock.end("a");
  end.min_hold = 10min;
  lock.send(end);

  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 10min);
}

TEST_P(AcquireTest, L0RestIsAtMostTheMinHoldAfterTheClockWentBack) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.pass(-std::chrono::hours(5));
  auto end = lock.end("a");
  end.min_hold = 60s;
  lock.send(end);

  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 60s);
}

TEST_P(AcquireTest, L5AnswersThatTheGroupWasGrantedAndDoesNotCountItsSkip) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.send(first);
  lock.release("a", RunVerdict::failed);
  lock.acquire("b");
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  const auto answer = got<Busy>(lock.send(retry));
  retry.if_busy = IfBusy::fail;
  lock.send(retry);

  EXPECT_TRUE(answer.group_granted);
  EXPECT_EQ(lock.counted("c", "runs_skipped") + lock.counted("c", "runs_busy"), 0);
  retry.if_busy = IfBusy::timed_out;
  EXPECT_TRUE(got<Busy>(lock.send(retry)).group_granted);
  EXPECT_EQ(lock.counted("c", "runs_busy"), 1);
}

TEST_P(AcquireTest, L5CountsTheSkipOfAGroupThatIsForgotten) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.send(first);
  lock.release("a", RunVerdict::failed);
  lock.pass(std::chrono::hours(24 * 35));
  lock.acquire("b");
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";

  EXPECT_FALSE(got<Busy>(lock.send(retry)).group_granted);
  EXPECT_EQ(lock.counted("c", "skipped_held"), 1);
}

TEST_P(AcquireTest, L7WaitsAtMostTheLeaseAfterTheClockWentBack) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.pass(-std::chrono::hours(5));
  const auto refused = got<Busy>(lock.acquire("b"));

  EXPECT_EQ(refused.remaining, 30s);
  EXPECT_EQ(refused.held_for, 0s);
  EXPECT_EQ(lock.record().expires, lock.now + 30s);
}

TEST_P(AcquireTest, CountsTheWaitOfAGrantOnce) {
  Lock lock = new_lock();
  auto request = lock.acquisition("a");
  request.waited = 4s;
  lock.send(request);
  lock.send(request);

  EXPECT_EQ(lock.counted("a", "wait_2"), 1);
  EXPECT_EQ(lock.counted("a", "wait_ms"), 4'000);
}

}  // namespace
}  // namespace cronlatch::testing
