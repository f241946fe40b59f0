// SPDX-License-Identifier: Apache-2.0
// By the rules: a store that went back to an older record: N3, C1, S2.
#include "rules_test_lock.h"

namespace cronlatch::testing {
namespace {

TEST(RulesOlderRecord, SaysGoneWhenTheStoreWentBackToAnOlderRecord) {
  Lock lock;
  lock.acquire("a");
  auto end = lock.end("b");
  end.fence += 1;
  EXPECT_EQ(got<NotHolder>(lock.release(end)).reason, LostReason::gone);
  end.fence -= 1;
  EXPECT_EQ(got<NotHolder>(lock.release(end)).reason, LostReason::taken);
}

TEST(RulesOlderRecord, N3RestoresAGrantOverAnOlderRecordThatNoRunHolds) {
  const auto restores = [](const std::string& what, auto older) {
    Lock lock;
    older(lock);
    const Fence fence = lock.record.fence + 1;
    auto renewal = lock.renewal("b");
    renewal.fence = fence;
    EXPECT_TRUE(got<Renewed>(lock.renew(renewal)).restored) << what;
    EXPECT_EQ(lock.record.seat, rules::Seat::held) << what;
    EXPECT_EQ(lock.record.fence, fence) << what;
    EXPECT_EQ(lock.counted("b", "restored"), 1) << what;
    EXPECT_EQ(lock.counted("b", "acquired"), 1) << what;
    EXPECT_EQ(
        lock.counted("a", "acquired"),
        lock.counted("a", "released") + lock.counted("a", "stolen") + lock.counted("a", "revoked"))
        << what;
    EXPECT_FALSE(got<Renewed>(lock.renew(renewal)).restored) << what;
    EXPECT_EQ(got<Busy>(lock.acquire("c")).holder, "pod-b") << what;
  };
  restores("free", [](auto& lock) { lock.acquire("a"), lock.release("a"); });
  restores("cooling", [](auto& lock) {
    lock.acquire("a");
    auto end = lock.end("a");
    end.min_hold = 10min;
    lock.release(end);
  });
  restores("expired", [](auto& lock) { lock.acquire("a"), lock.pass(30s); });
  restores("revoked", [](auto& lock) {
    lock.acquire("a"), rules::revoke(lock.record, lock.now), lock.pass(30s);
  });
}

TEST(RulesOlderRecord, N3CountsAnExpiredGrantThatIsReplacedAsStolenOnceAndOnlyIfItIsOpen) {
  for (const bool counters_too : {true, false}) {
    for (const std::string job : {"ns/a", "ns/b"}) {
      Lock lock;
      lock.acquire("a");
      auto renewal = lock.renewal("b");
      renewal.identity.job = job;
      renewal.fence += 1;
      if (!counters_too) {
        lock.record.jobs["ns/a"].values["released"] = 1;
        lock.record.jobs[job].values["acquired"] += 1;
      }
      lock.pass(30s);
      EXPECT_TRUE(got<Renewed>(lock.renew(renewal)).restored);
      for (const char* owner : {"a", "b"}) {
        const std::int64_t open = lock.counted(owner, "acquired") -
                                  lock.counted(owner, "released") - lock.counted(owner, "stolen") -
                                  lock.counted(owner, "revoked");
        EXPECT_EQ(open, job == std::string("ns/") + owner ? 1 : 0) << counters_too << owner << job;
      }
    }
  }
}

TEST(RulesOlderRecord, N3SaysGoneWhenTheOlderRecordIsStillLeased) {
  for (const bool revoked : {false, true}) {
    Lock lock;
    lock.acquire("a");
    if (revoked) rules::revoke(lock.record, lock.now);
    const auto before = lock.record;
    auto newer = lock.renewal("b");
    newer.fence += 1;
    EXPECT_EQ(got<NotHolder>(lock.renew(newer)).reason, LostReason::gone);
    auto same_owner = lock.renewal("a", 2);
    same_owner.fence += 1;
    EXPECT_EQ(got<NotHolder>(lock.renew(same_owner)).reason, LostReason::gone);
    EXPECT_EQ(lock.record, before);
  }
}

TEST(RulesOlderRecord, N3RestoresANewerAttemptOfTheSameOwner) {
  Lock lock;
  lock.acquire("a");
  lock.pass(30s);
  auto renewal = lock.renewal("a", 2);
  renewal.fence += 1;

  EXPECT_TRUE(got<Renewed>(lock.renew(renewal)).restored);
  EXPECT_EQ(lock.record.claim.attempt, 2u);
  EXPECT_EQ(lock.counted("a", "acquired"), 2);
  EXPECT_EQ(lock.counted("a", "stolen"), 1);
}

TEST(RulesOlderRecord, N3DoesNotRestoreOverAnOlderRecordWhatWasReleased) {
  Lock lock;
  lock.acquire("a");
  auto renewal = lock.renewal("a");
  lock.release("a");
  lock.acquire("b");
  lock.release("b");
  renewal.fence = lock.record.fence + 1;
  const auto before = lock.record;

  EXPECT_EQ(got<NotHolder>(lock.renew(renewal)).reason, LostReason::taken);
  EXPECT_EQ(lock.record, before);
}

TEST(RulesOlderRecord, N3SaysTakenWhenTheRecordIsNewer) {
  Lock lock;
  lock.acquire("a");
  const auto renewal = lock.renewal("a");
  lock.release("a");
  lock.pass(1s);
  lock.acquire("b");
  lock.release("b");

  EXPECT_EQ(got<NotHolder>(lock.renew(renewal)).reason, LostReason::taken);
}

}  // namespace
}  // namespace cronlatch::testing
