// SPDX-License-Identifier: Apache-2.0
// The min-hold after a crash, and how a revocation ends it: L0, L7.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class MinHoldTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(MinHoldTest);

TEST_P(MinHoldTest, L0KeepsTheLockClosedAfterACrashInsideMinHoldButNotForItsOwnGroup) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  first.min_hold = 10min;
  const Fence fence = got<Granted>(lock.send(first)).fence;
  EXPECT_EQ(got<Busy>(lock.acquire("x")).reason, BusyReason::held);
  lock.pass(30s);
  const auto refused = got<Busy>(lock.acquire("b"));
  EXPECT_EQ(refused, (Busy{BusyReason::cooling, "pod-a", "ns/a", fence, 30s, 9min + 30s, false}));
  EXPECT_EQ(got<Busy>(lock.acquire("b")), refused);
  EXPECT_EQ(lock.counted("b", "skipped_held"), 1);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);

  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  EXPECT_TRUE(got<Granted>(lock.send(retry)).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 1);
}

TEST_P(MinHoldTest, L0CountsATakeoverAfterTheMinHoldOfACrashedRunAsStolen) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.send(first);
  lock.pass(10min - 1us);
  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 1us);
  lock.pass(1us);

  EXPECT_TRUE(got<Granted>(lock.acquire("c")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 1);
}

TEST_P(MinHoldTest, L7KeepsAMinHoldAfterACrashAtMostItsLengthAfterTheClockWentBack) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.send(first);
  lock.pass(-std::chrono::hours(5));
  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 30s);
  lock.pass(5min);
  const auto refused = got<Busy>(lock.acquire("c"));
  lock.pass(5min);

  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_EQ(refused.remaining, 5min);
  got<Granted>(lock.acquire("d"));
}

TEST_P(MinHoldTest, RevocationOpensALockThatOnlyItsMinHoldKeepsClosed) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto end = lock.end("a");
  end.min_hold = 10min;
  lock.send(end);
  lock.pass(1min);
  const auto answer = lock.revoke();

  EXPECT_FALSE(answer.was_held);
  EXPECT_TRUE(answer.was_cooling);
  EXPECT_EQ(answer.holder, "pod-a");
  EXPECT_EQ(answer.remaining, 9min);
  EXPECT_EQ(lock.record().state, rules::HoldState::free);
  EXPECT_EQ(lock.counted("a", "revoked"), 0);
  EXPECT_FALSE(lock.revoke().was_cooling);
  EXPECT_FALSE(got<Granted>(lock.acquire("b")).stole);
}

TEST_P(MinHoldTest, RevocationOpensACrashedLockInsideItsMinHoldAndClosesItsGrant) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.send(first);
  lock.pass(1min);
  const auto answer = lock.revoke();

  EXPECT_FALSE(answer.was_held);
  EXPECT_TRUE(answer.was_cooling);
  EXPECT_EQ(answer.remaining, 9min);
  EXPECT_EQ(lock.counted("a", "revoked"), 1);
  EXPECT_FALSE(lock.revoke().was_cooling);
  EXPECT_FALSE(got<Granted>(lock.acquire("b")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);
  EXPECT_TRUE(got<TooLate>(lock.acquire("a")).closed);
}

TEST_P(MinHoldTest, ViewContainsItsEndAfterAReleaseAndAfterACrash) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.send(first);
  const auto view = [&] { return rules::view("l", lock.record(), lock.now); };
  EXPECT_EQ(view().closed_until().us, 0);
  lock.pass(30s);
  EXPECT_EQ(view().state, LockState::expired);
  EXPECT_TRUE(view().open());
  EXPECT_EQ(view().closed_until(), lock.now + 9min + 30s);
  EXPECT_EQ(rules::view("l", lock.record(), lock.now + 10min).closed_until().us, 0);

  auto end = lock.end("a");
  end.min_hold = 10min;
  lock.send(end);
  EXPECT_EQ(view().state, LockState::cooling);
  EXPECT_EQ(view().closed_until(), lock.now + 9min + 30s);
}

}  // namespace
}  // namespace cronlatch::testing
