// SPDX-License-Identifier: Apache-2.0
// Renew and revoke: N1 to N4, S3, L7.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class RenewTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(RenewTest);
class RevokeTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(RevokeTest);

TEST_P(RenewTest, N1ExtendsOnlyTheHoldersLiveLease) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.pass(10s);
  const auto before = lock.record();
  EXPECT_EQ(got<NotHolder>(lock.renew("b")).reason, LostReason::taken);
  EXPECT_EQ(got<NotHolder>(lock.renew("a", 2)).reason, LostReason::taken);
  EXPECT_EQ(lock.record(), before);  // S3

  EXPECT_FALSE(got<Renewed>(lock.renew("a")).restored);
  EXPECT_EQ(lock.record().expires, lock.now + 30s);
  EXPECT_EQ(lock.record().fence, before.fence);
}

TEST_P(RenewTest, N1DoesNotExtendAnExpiredLease) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.pass(30s);
  const auto before = lock.record();

  EXPECT_EQ(got<NotHolder>(lock.renew("a")).reason, LostReason::expired);
  EXPECT_EQ(lock.record(), before);
}

TEST_P(RenewTest, N1AnswersTakenAfterAReleaseOrATakeover) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto renewal = lock.renewal("a");
  lock.release("a");
  EXPECT_EQ(got<NotHolder>(lock.send(renewal)).reason, LostReason::taken);
  lock.acquire("b");
  EXPECT_EQ(got<NotHolder>(lock.send(renewal)).reason, LostReason::taken);
}

TEST_P(RenewTest, N2DoesNotShortenTheLeaseExceptByTheClamp) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto shorter = lock.renewal("a");
  shorter.ttl = 5s;
  got<Renewed>(lock.send(shorter));
  EXPECT_EQ(lock.record().expires, lock.now + 30s);
  EXPECT_EQ(lock.record().ttl, 30s);

  lock.pass(-std::chrono::hours(1));
  got<Renewed>(lock.send(shorter));
  EXPECT_EQ(lock.record().expires, lock.now + 30s);
}

TEST_P(RenewTest, N3RestoresARecordTheStoreHasLost) {
  Lock lock = new_lock();
  const Fence fence = got<Granted>(lock.acquire("a")).fence;
  auto renewal = lock.renewal("a");
  renewal.identity.group = "uid";
  lock.lose_everything();
  lock.pass(10s);
  const auto restored = lock.send(renewal);

  EXPECT_TRUE(got<Renewed>(restored).restored);
  EXPECT_EQ(lock.record().day, lock.now.us / 86'400'000'000);
  const auto record = lock.record();
  EXPECT_EQ(record.fence, fence);
  EXPECT_EQ(record.expires, lock.now + 30s);
  EXPECT_EQ(record.acquired.us, static_cast<std::int64_t>(fence));
  EXPECT_TRUE(record.groups.contains("uid"));
  EXPECT_EQ(lock.counted("a", "acquired"), 1);
  EXPECT_EQ(lock.counted("a", "restored"), 1);
  EXPECT_EQ(got<Busy>(lock.acquire("b")).holder, "pod-a");
}

TEST_P(RenewTest, N3DoesNotCountAGrantTwiceWhenTheCountersWereKept) {
  Lock lock = new_lock();
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  lock.lose_grant();

  EXPECT_TRUE(got<Renewed>(lock.send(renewal)).restored);
  EXPECT_EQ(lock.counted("a", "acquired"), 1);
}

TEST_P(RenewTest, N3DoesNotRestoreWhatWasReleased) {
  Lock lock = new_lock();
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  lock.release("a");
  lock.lose_grant();

  EXPECT_EQ(got<NotHolder>(lock.send(renewal)).reason, LostReason::taken);
  EXPECT_EQ(lock.record().state, rules::HoldState::none);
}

TEST_P(RenewTest, N3AndG5ChangeNothingAfterTheDeadline) {
  Lock lock = new_lock();
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  const auto before = lock.record();
  EXPECT_FALSE(got<TooLate>(lock.send(renewal, lock.now - 1us)).closed);
  EXPECT_EQ(lock.record(), before);
  lock.lose_everything();
  EXPECT_FALSE(got<TooLate>(lock.send(renewal, lock.now - 1us)).closed);
  EXPECT_EQ(lock.record(), rules::Record{});
}

TEST_P(RenewTest, N3AnswersGoneWhenAnotherRunIsGrantedAfterTheLoss) {
  Lock lock = new_lock();
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  lock.lose_everything();
  lock.pass(5s);
  lock.acquire("b");

  EXPECT_EQ(got<NotHolder>(lock.send(renewal)).reason, LostReason::gone);
}

TEST_P(RenewTest, N4KeepsTheFence) {
  Lock lock = new_lock();
  const Fence fence = got<Granted>(lock.acquire("a")).fence;
  lock.pass(10s);
  lock.renew("a");

  EXPECT_EQ(lock.record().fence, fence);
}

TEST_P(RevokeTest, IsReportedToTheHolderWhichKeepsTheLockUntilItReleases) {
  Lock lock = new_lock();
  const Fence fence = got<Granted>(lock.acquire("a")).fence;
  lock.pass(10s);
  const auto answer = lock.revoke();
  const auto twice = lock.revoke();

  EXPECT_TRUE(answer.was_held);
  EXPECT_EQ(answer.holder, "pod-a");
  EXPECT_EQ(answer.fence, fence);
  EXPECT_EQ(answer.remaining, 20s);
  EXPECT_TRUE(twice.was_held);
  EXPECT_EQ(lock.counted("a", "revoked"), 1);
  EXPECT_EQ(got<Busy>(lock.acquire("b")).remaining, 20s);
  EXPECT_EQ(got<NotHolder>(lock.renew("a")).reason, LostReason::revoked);
  EXPECT_EQ(lock.record().expires, lock.now + 20s);
  got<Released>(lock.release("a", RunVerdict::lost));
  EXPECT_EQ(lock.counted("a", "released"), 0);
  EXPECT_EQ(lock.counted("a", "runs_lost"), 1);
  got<Granted>(lock.acquire("c"));
}

TEST_P(RevokeTest, IsNotCountedAsStolenWhenTheHolderDoesNotRelease) {
  Lock lock = new_lock();
  lock.acquire("a");
  lock.revoke();
  lock.pass(30s);

  EXPECT_FALSE(got<Granted>(lock.acquire("b")).stole);
  EXPECT_EQ(lock.counted("a", "stolen"), 0);
}

TEST_P(RevokeTest, ChangesNothingWithoutALiveLease) {
  Lock lock = new_lock();
  EXPECT_FALSE(lock.revoke().was_held);
  EXPECT_TRUE(lock.is_empty());
  lock.acquire("a");
  lock.pass(30s);
  const auto before = lock.record();

  EXPECT_FALSE(lock.revoke().was_held);
  EXPECT_EQ(lock.record(), before);
}

}  // namespace
}  // namespace cronlatch::testing
