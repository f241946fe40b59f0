// SPDX-License-Identifier: Apache-2.0
// Renew and revoke by the rules: N1 to N4, L7, S3, and what a reader is shown.
#include "rules_test_lock.h"

namespace cronlatch::testing {
namespace {

TEST(RulesRenew, N1ExtendsOnlyTheHoldersLiveLease) {
  Lock lock;
  lock.acquire("a");
  lock.pass(10s);
  const rules::Record before = lock.record;
  EXPECT_EQ(got<NotHolder>(lock.renew("b")).reason, LostReason::taken);
  EXPECT_EQ(got<NotHolder>(lock.renew("a", 2)).reason, LostReason::taken);
  EXPECT_EQ(lock.record, before);

  EXPECT_FALSE(got<Renewed>(lock.renew("a")).restored);
  EXPECT_EQ(lock.record.expires, lock.now + 30s);
  EXPECT_EQ(lock.record.fence, before.fence);
}

TEST(RulesRenew, N1NeverRevivesAnExpiredLease) {
  Lock lock;
  lock.acquire("a");
  lock.pass(30s);
  const rules::Record before = lock.record;

  EXPECT_EQ(got<NotHolder>(lock.renew("a")).reason, LostReason::expired);
  EXPECT_EQ(lock.record, before);
}

TEST(RulesRenew, N2NeverShortensTheLease) {
  Lock lock;
  lock.acquire("a");
  auto shorter = lock.renewal("a");
  shorter.ttl = 5s;
  got<Renewed>(lock.renew(shorter));

  EXPECT_EQ(lock.record.expires, lock.now + 30s);
  EXPECT_EQ(lock.record.ttl, 30s);
}

TEST(RulesRenew, N3RestoresARecordTheStoreHasLost) {
  Lock lock;
  const Fence fence = got<Granted>(lock.acquire("a")).fence;
  const auto renewal = lock.renewal("a");
  lock.record = {};
  lock.pass(10s);

  EXPECT_TRUE(got<Renewed>(lock.renew(renewal)).restored);
  EXPECT_EQ(lock.record.fence, fence);
  EXPECT_EQ(lock.record.expires, lock.now + 30s);
  EXPECT_EQ(lock.counted("a", "acquired"), 1);
  EXPECT_EQ(lock.counted("a", "restored"), 1);
  EXPECT_EQ(got<Busy>(lock.acquire("b")).holder, "pod-a");
}

TEST(RulesRenew, N3DoesNotCountAGrantTwiceWhenTheCountersWereKept) {
  Lock lock;
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  const auto jobs = lock.record.jobs;
  lock.record = {};
  lock.record.jobs = jobs;

  got<Renewed>(lock.renew(renewal));
  EXPECT_EQ(lock.counted("a", "acquired"), 1);
}

TEST(RulesRenew, N3DoesNotRestoreWhatWasReleasedOrComesTooLate) {
  Lock lock;
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  const auto late = rules::decide(lock.record = {}, renewal, lock.now, lock.now - 1us);
  lock.acquire("a");
  lock.release("a");
  const auto seen = lock.record.answers;
  lock.record = {};
  lock.record.answers = seen;

  EXPECT_FALSE(got<TooLate>(late).closed);
  EXPECT_EQ(got<NotHolder>(lock.renew(renewal)).reason, LostReason::taken);
}

TEST(RulesRenew, N3SaysGoneWhenAnotherRunCameFirstAfterTheLoss) {
  Lock lock;
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  lock.record = {};
  lock.pass(5s);
  lock.acquire("b");

  EXPECT_EQ(got<NotHolder>(lock.renew(renewal)).reason, LostReason::gone);
}

TEST(RulesRevoke, IsToldToTheHolderWhoKeepsTheLockUntilItLetsGo) {
  Lock lock;
  lock.acquire("a");
  lock.pass(10s);
  const auto told = rules::revoke(lock.record, lock.now);
  const auto twice = rules::revoke(lock.record, lock.now);

  EXPECT_TRUE(told.was_held);
  EXPECT_EQ(told.remaining, 20s);
  EXPECT_TRUE(twice.was_held);
  EXPECT_EQ(lock.counted("a", "revoked"), 1);
  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 20s);
  EXPECT_EQ(got<NotHolder>(lock.renew("a")).reason, LostReason::revoked);
  EXPECT_EQ(lock.record.expires, lock.now + 20s);
  got<Released>(lock.release("a", RunVerdict::lost));
  EXPECT_EQ(lock.counted("a", "released"), 0);
  EXPECT_EQ(lock.counted("a", "runs_lost"), 1);
  got<Granted>(lock.acquire("c"));
}

TEST(RulesRevoke, IsNotAStealWhenTheHolderNeverLetGo) {
  Lock lock;
  lock.acquire("a");
  rules::revoke(lock.record, lock.now);
  lock.pass(30s);

  EXPECT_FALSE(got<Granted>(lock.acquire("b")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);
}

TEST(RulesRevoke, ChangesNothingThatNobodyHolds) {
  Lock lock;
  EXPECT_FALSE(rules::revoke(lock.record, lock.now).was_held);
  lock.acquire("a");
  lock.pass(30s);
  const rules::Record before = lock.record;

  EXPECT_FALSE(rules::revoke(lock.record, lock.now).was_held);
  EXPECT_EQ(lock.record, before);
}

TEST(RulesView, NamesEveryState) {
  Lock lock;
  const auto state = [&] { return rules::view("l", lock.record, lock.now).state; };
  EXPECT_EQ(state(), LockState::free);
  lock.acquire("a");
  EXPECT_EQ(state(), LockState::held);
  lock.pass(30s);
  EXPECT_EQ(state(), LockState::expired);
  lock.acquire("b");
  rules::revoke(lock.record, lock.now);
  EXPECT_EQ(state(), LockState::revoked);
  lock.pass(30s);
  EXPECT_EQ(state(), LockState::free);
  lock.acquire("c");
  auto end = lock.end("c", RunVerdict::succeeded);
  end.min_hold = 60s;
  lock.release(end);
  EXPECT_EQ(state(), LockState::cooling);
}

TEST(RulesSlots, AreRefusedByEveryStore) {
  Acquire two;
  two.slots = 2;
  const auto refused = rules::refuse_slots(two);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->error.code, Code::config);
  EXPECT_FALSE(refused->transient);
  EXPECT_FALSE(rules::refuse_slots(Acquire{}).has_value());
  EXPECT_FALSE(rules::refuse_slots(Renew{}).has_value());
}

}  // namespace
}  // namespace cronlatch::testing
