// SPDX-License-Identifier: Apache-2.0
// By the rules: min-hold after a crash, and how it is ended: L0, L7.
#include "rules_test_lock.h"

namespace cronlatch::testing {
namespace {

TEST(RulesMinHold, L0KeepsTheLockClosedAfterACrashInsideMinHoldButNotForItsOwnGroup) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  first.min_hold = 10min;
  const Fence fence = got<Granted>(lock.acquire(first)).fence;
  EXPECT_EQ(got<Busy>(lock.acquire("x")).reason, BusyReason::held);
  lock.pass(30s);
  const auto refused = got<Busy>(lock.acquire("b"));
  EXPECT_EQ(refused, (Busy{BusyReason::cooling, "pod-a", "ns/a", fence, 30s, 9min + 30s, false}));
  EXPECT_EQ(got<Busy>(lock.acquire("b")), refused);
  EXPECT_EQ(lock.counted("b", "skipped_held"), 1);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);

  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  EXPECT_TRUE(got<Granted>(lock.acquire(retry)).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 1);
}

TEST(RulesMinHold, L0CountsATakeoverAfterTheMinHoldOfACrashedRunAsStolen) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.acquire(first);
  lock.pass(10min - 1us);
  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 1us);
  lock.pass(1us);

  EXPECT_TRUE(got<Granted>(lock.acquire("c")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 1);
}

TEST(RulesMinHold, L7KeepsAMinHoldAfterACrashNoLongerThanItIsThoughTheClockWentBack) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.acquire(first);
  lock.pass(-std::chrono::hours(5));
  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 30s);
  lock.pass(5min);
  const auto refused = got<Busy>(lock.acquire("c"));
  lock.pass(5min);

  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_EQ(refused.remaining, 5min);
  got<Granted>(lock.acquire("d"));
}

TEST(RulesMinHold, OpensALockThatOnlyItsMinHoldKeepsClosed) {
  Lock lock;
  lock.acquire("a");
  auto end = lock.end("a");
  end.min_hold = 10min;
  lock.release(end);
  lock.pass(1min);
  const auto told = rules::revoke(lock.record, lock.now);

  EXPECT_FALSE(told.was_held);
  EXPECT_TRUE(told.was_cooling);
  EXPECT_EQ(told.holder, "pod-a");
  EXPECT_EQ(told.remaining, 9min);
  EXPECT_EQ(lock.record.seat, rules::Seat::free);
  EXPECT_EQ(lock.counted("a", "revoked"), 0);
  EXPECT_FALSE(rules::revoke(lock.record, lock.now).was_cooling);
  EXPECT_FALSE(got<Granted>(lock.acquire("b")).stole);
}

TEST(RulesMinHold, OpensALockThatACrashLeftInsideItsMinHoldAndClosesItsGrant) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.acquire(first);
  lock.pass(1min);
  const auto told = rules::revoke(lock.record, lock.now);

  EXPECT_FALSE(told.was_held);
  EXPECT_TRUE(told.was_cooling);
  EXPECT_EQ(told.remaining, 9min);
  EXPECT_EQ(lock.counted("a", "revoked"), 1);
  EXPECT_FALSE(rules::revoke(lock.record, lock.now).was_cooling);
  EXPECT_FALSE(got<Granted>(lock.acquire("b")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);
  EXPECT_TRUE(got<TooLate>(lock.acquire("a")).closed);
}

TEST(RulesMinHold, IsShownUntilItEndsWhetherTheRunReleasedOrCrashed) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.min_hold = 10min;
  lock.acquire(first);
  const auto view = [&] { return rules::view("l", lock.record, lock.now); };
  EXPECT_EQ(view().closed_until.us, 0);
  lock.pass(30s);
  EXPECT_EQ(view().state, LockState::expired);
  EXPECT_TRUE(view().open());
  EXPECT_EQ(view().closed_until, lock.now + 9min + 30s);
  Lock after = lock;
  after.pass(10min);
  EXPECT_EQ(rules::view("l", after.record, after.now).closed_until.us, 0);

  auto end = lock.end("a");
  end.min_hold = 10min;
  lock.release(end);
  EXPECT_EQ(view().state, LockState::cooling);
  EXPECT_EQ(view().closed_until, lock.now + 9min + 30s);
}

}  // namespace
}  // namespace cronlatch::testing
