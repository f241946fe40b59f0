// SPDX-License-Identifier: Apache-2.0
// Renew and revoke on a real server: N1 to N4, S3, L7, and what release --force does.
#include "script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(Renew, N1ExtendsOnlyTheHoldersLiveLease) {
  ScriptBench bench;
  bench.acquire("a");
  bench.pass(10s);
  const auto before = bench.record();
  EXPECT_EQ(got<NotHolder>(bench.renew("b")).reason, LostReason::taken);
  EXPECT_EQ(got<NotHolder>(bench.renew("a", 2)).reason, LostReason::taken);
  EXPECT_EQ(bench.record(), before);  // S3

  EXPECT_FALSE(got<Renewed>(bench.renew("a")).restored);
  EXPECT_EQ(bench.record().expires, bench.now + 30s);
}

TEST(Renew, N1NeverRevivesAnExpiredLease) {
  ScriptBench bench;
  bench.acquire("a");
  bench.pass(30s);
  const auto before = bench.record();

  EXPECT_EQ(got<NotHolder>(bench.renew("a")).reason, LostReason::expired);
  EXPECT_EQ(bench.record(), before);
}

TEST(Renew, N1TellsAHolderThatWasReleasedOrTakenOver) {
  ScriptBench bench;
  bench.acquire("a");
  auto renewal = bench.renewal("a");
  bench.release("a");
  EXPECT_EQ(got<NotHolder>(bench.send(renewal).reply).reason, LostReason::taken);
  bench.acquire("b");
  EXPECT_EQ(got<NotHolder>(bench.send(renewal).reply).reason, LostReason::taken);
}

TEST(Renew, N2NeverShortensTheLeaseButForTheClamp) {
  ScriptBench bench;
  bench.acquire("a");
  auto shorter = bench.renewal("a");
  shorter.ttl = 5s;
  got<Renewed>(bench.send(shorter).reply);
  EXPECT_EQ(bench.record().expires, bench.now + 30s);

  bench.pass(-std::chrono::hours(1));
  got<Renewed>(bench.send(shorter).reply);
  EXPECT_EQ(bench.record().expires, bench.now + 30s);
}

TEST(Renew, N3RestoresARecordTheStoreHasLost) {
  ScriptBench bench;
  const Fence fence = got<Granted>(bench.acquire("a")).fence;
  auto renewal = bench.renewal("a");
  renewal.identity.group = "uid";
  bench.client({"FLUSHALL"});
  bench.pass(10s);
  const auto restored = bench.send(renewal);

  EXPECT_TRUE(got<Renewed>(restored.reply).restored);
  EXPECT_TRUE(restored.index);
  const auto record = bench.record();
  EXPECT_EQ(record.fence, fence);
  EXPECT_EQ(record.expires, bench.now + 30s);
  EXPECT_EQ(record.acquired.us, static_cast<std::int64_t>(fence));
  EXPECT_TRUE(record.groups.contains("uid"));
  EXPECT_EQ(bench.counted("a", "acquired"), 1);
  EXPECT_EQ(bench.counted("a", "restored"), 1);
  EXPECT_EQ(got<Busy>(bench.acquire("b")).holder, "pod-a");
}

TEST(Renew, N3DoesNotCountAGrantTwiceWhenTheCountersWereKept) {
  ScriptBench bench;
  bench.acquire("a");
  const auto renewal = bench.renewal("a");
  bench.client({"DEL", bench.key()});

  EXPECT_TRUE(got<Renewed>(bench.send(renewal).reply).restored);
  EXPECT_EQ(bench.counted("a", "acquired"), 1);
}

TEST(Renew, N3DoesNotRestoreWhatWasReleased) {
  ScriptBench bench;
  bench.acquire("a");
  const auto renewal = bench.renewal("a");
  bench.release("a");
  bench.client({"DEL", bench.key()});

  EXPECT_EQ(got<NotHolder>(bench.send(renewal).reply).reason, LostReason::taken);
  EXPECT_EQ(bench.record().seat, rules::Seat::none);
}

TEST(Renew, N3AndG5ChangeNothingAfterTheirTime) {
  ScriptBench bench;
  bench.acquire("a");
  const auto renewal = bench.renewal("a");
  const auto before = bench.record();
  EXPECT_FALSE(got<TooLate>(bench.send(renewal, bench.now - 1us).reply).closed);
  EXPECT_EQ(bench.record(), before);
  bench.client({"FLUSHALL"});
  EXPECT_FALSE(got<TooLate>(bench.send(renewal, bench.now - 1us).reply).closed);
  EXPECT_EQ(bench.record(), rules::Record{});
}

TEST(Renew, N3SaysGoneWhenAnotherRunCameFirstAfterTheLoss) {
  ScriptBench bench;
  bench.acquire("a");
  const auto renewal = bench.renewal("a");
  bench.client({"FLUSHALL"});
  bench.pass(5s);
  bench.acquire("b");

  EXPECT_EQ(got<NotHolder>(bench.send(renewal).reply).reason, LostReason::gone);
}

TEST(Renew, N4KeepsTheFence) {
  ScriptBench bench;
  const Fence fence = got<Granted>(bench.acquire("a")).fence;
  bench.pass(10s);
  bench.renew("a");

  EXPECT_EQ(bench.record().fence, fence);
}

TEST(Revoke, IsToldToTheHolderWhoKeepsTheLockUntilItLetsGo) {
  ScriptBench bench;
  const Fence fence = got<Granted>(bench.acquire("a")).fence;
  bench.pass(10s);
  const auto told = bench.revoke();
  const auto twice = bench.revoke();

  EXPECT_TRUE(told.was_held);
  EXPECT_EQ(told.holder, "pod-a");
  EXPECT_EQ(told.fence, fence);
  EXPECT_EQ(told.remaining, 20s);
  EXPECT_TRUE(twice.was_held);
  EXPECT_EQ(bench.counted("a", "revoked"), 1);
  EXPECT_EQ(got<Busy>(bench.acquire("b")).remaining, 20s);
  EXPECT_EQ(got<NotHolder>(bench.renew("a")).reason, LostReason::revoked);
  EXPECT_EQ(bench.record().expires, bench.now + 20s);
  got<Released>(bench.release("a", RunVerdict::lost));
  EXPECT_EQ(bench.counted("a", "released"), 0);
  EXPECT_EQ(bench.counted("a", "runs_lost"), 1);
  got<Granted>(bench.acquire("c"));
}

TEST(Revoke, IsNotAStealWhenTheHolderNeverLetGo) {
  ScriptBench bench;
  bench.acquire("a");
  bench.revoke();
  bench.pass(30s);

  EXPECT_FALSE(got<Granted>(bench.acquire("b")).stole);
  EXPECT_EQ(bench.counted("a", "stolen"), 0);
}

TEST(Revoke, ChangesNothingThatNobodyHoldsAndNothingTooLate) {
  ScriptBench bench;
  EXPECT_FALSE(bench.revoke().was_held);
  EXPECT_EQ(bench.client({"DBSIZE"}).integer, 0);
  bench.acquire("a");
  const auto before = bench.record();
  const auto late = bench.raw(redis::encode_revoke(bench.lock, bench.prefix, bench.now - 1us));
  ASSERT_EQ(late.elements.size(), 4u);
  EXPECT_EQ(late.elements[0].text, "stale");
  EXPECT_EQ(bench.record(), before);
  bench.pass(30s);
  EXPECT_FALSE(bench.revoke().was_held);
  EXPECT_EQ(bench.record(), before);
}

}  // namespace
}  // namespace cronlatch::testing
