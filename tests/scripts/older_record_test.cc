// SPDX-License-Identifier: Apache-2.0
// On a real server: a store that went back to an older record: N3, C1, S2.
#include "script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(OlderRecord, SaysGoneWhenTheStoreWentBackToAnOlderRecord) {
  ScriptBench bench;
  bench.acquire("a");
  auto end = bench.end("b");
  end.fence += 1;
  EXPECT_EQ(got<NotHolder>(bench.send(end).reply).reason, LostReason::gone);
  end.fence -= 1;
  EXPECT_EQ(got<NotHolder>(bench.send(end).reply).reason, LostReason::taken);
}

TEST(OlderRecord, N3RestoresAGrantOverAnOlderRecordThatNoRunHolds) {
  const auto restores = [](const std::string& what, auto older) {
    ScriptBench bench;
    older(bench);
    const Fence fence = bench.record().fence + 1;
    auto renewal = bench.renewal("b");
    renewal.fence = fence;
    EXPECT_TRUE(got<Renewed>(bench.send(renewal).reply).restored) << what;
    EXPECT_EQ(bench.record().seat, rules::Seat::held) << what;
    EXPECT_EQ(bench.record().fence, fence) << what;
    EXPECT_EQ(bench.counted("b", "restored"), 1) << what;
    EXPECT_EQ(bench.counted("b", "acquired"), 1) << what;
    EXPECT_EQ(bench.counted("a", "acquired"), bench.counted("a", "released") +
                                                  bench.counted("a", "stolen") +
                                                  bench.counted("a", "revoked"))
        << what;
    EXPECT_FALSE(got<Renewed>(bench.send(renewal).reply).restored) << what;
    EXPECT_EQ(got<Busy>(bench.acquire("c")).holder, "pod-b") << what;
  };
  restores("free", [](auto& bench) { bench.acquire("a"), bench.release("a"); });
  restores("cooling", [](auto& bench) {
    bench.acquire("a");
    auto end = bench.end("a");
    end.min_hold = 10min;
    bench.send(end);
  });
  restores("expired", [](auto& bench) { bench.acquire("a"), bench.pass(30s); });
  restores("revoked", [](auto& bench) { bench.acquire("a"), bench.revoke(), bench.pass(30s); });
}

TEST(OlderRecord, N3CountsAnExpiredGrantThatIsReplacedAsStolenOnceAndOnlyIfItIsOpen) {
  for (const bool counters_too : {true, false}) {
    for (const std::string job : {"ns/a", "ns/b"}) {
      ScriptBench bench;
      bench.acquire("a");
      auto renewal = bench.renewal("b");
      renewal.identity.job = job;
      renewal.fence += 1;
      if (!counters_too) {
        bench.client({"HSET", bench.key(":stats"), "released|ns/a", "1"});
        bench.client({"HINCRBY", bench.key(":stats"), "acquired|" + job, "1"});
      }
      bench.pass(30s);
      EXPECT_TRUE(got<Renewed>(bench.send(renewal).reply).restored);
      for (const char* owner : {"a", "b"}) {
        const std::int64_t open = bench.counted(owner, "acquired") -
                                  bench.counted(owner, "released") -
                                  bench.counted(owner, "stolen") - bench.counted(owner, "revoked");
        EXPECT_EQ(open, job == std::string("ns/") + owner ? 1 : 0) << counters_too << owner << job;
      }
    }
  }
}

TEST(OlderRecord, N3SaysGoneWhenTheOlderRecordIsStillLeased) {
  for (const bool revoked : {false, true}) {
    ScriptBench bench;
    bench.acquire("a");
    if (revoked) bench.revoke();
    const auto before = bench.record();
    auto newer = bench.renewal("b");
    newer.fence += 1;
    EXPECT_EQ(got<NotHolder>(bench.send(newer).reply).reason, LostReason::gone);
    auto same_owner = bench.renewal("a", 2);
    same_owner.fence += 1;
    EXPECT_EQ(got<NotHolder>(bench.send(same_owner).reply).reason, LostReason::gone);
    EXPECT_EQ(bench.record(), before);
  }
}

TEST(OlderRecord, N3RestoresANewerAttemptOfTheSameOwner) {
  ScriptBench bench;
  bench.acquire("a");
  bench.pass(30s);
  auto renewal = bench.renewal("a", 2);
  renewal.fence += 1;

  EXPECT_TRUE(got<Renewed>(bench.send(renewal).reply).restored);
  EXPECT_EQ(bench.record().claim.attempt, 2u);
  EXPECT_EQ(bench.counted("a", "acquired"), 2);
  EXPECT_EQ(bench.counted("a", "stolen"), 1);
}

TEST(OlderRecord, N3DoesNotRestoreOverAnOlderRecordWhatWasReleased) {
  ScriptBench bench;
  bench.acquire("a");
  auto renewal = bench.renewal("a");
  bench.release("a");
  bench.acquire("b");
  bench.release("b");
  renewal.fence = bench.record().fence + 1;
  const auto before = bench.record();

  EXPECT_EQ(got<NotHolder>(bench.send(renewal).reply).reason, LostReason::taken);
  EXPECT_EQ(bench.record(), before);
}

TEST(OlderRecord, N3SaysTakenWhenTheRecordIsNewer) {
  ScriptBench bench;
  bench.acquire("a");
  const auto renewal = bench.renewal("a");
  bench.release("a");
  bench.pass(1s);
  bench.acquire("b");
  bench.release("b");

  EXPECT_EQ(got<NotHolder>(bench.send(renewal).reply).reason, LostReason::taken);
}

}  // namespace
}  // namespace cronlatch::testing
