// SPDX-License-Identifier: Apache-2.0
// On a real server: min-hold after a crash, and how it is ended: L0, L7.
#include "script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(MinHold, L0KeepsTheLockClosedAfterACrashInsideMinHoldButNotForItsOwnGroup) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.group = "uid";
  first.min_hold = 10min;
  const Fence fence = got<Granted>(bench.send(first).reply).fence;
  EXPECT_EQ(got<Busy>(bench.acquire("x")).reason, BusyReason::held);
  bench.pass(30s);
  const auto refused = got<Busy>(bench.acquire("b"));
  EXPECT_EQ(refused, (Busy{BusyReason::cooling, "pod-a", "ns/a", fence, 30s, 9min + 30s, false}));
  EXPECT_EQ(got<Busy>(bench.acquire("b")), refused);
  EXPECT_EQ(bench.counted("b", "skipped_held"), 1);
  EXPECT_EQ(bench.counted("a", "stolen"), 0);

  auto retry = bench.acquisition("c");
  retry.identity.group = "uid";
  EXPECT_TRUE(got<Granted>(bench.send(retry).reply).stole);
  EXPECT_EQ(bench.counted("a", "stolen"), 1);
}

TEST(MinHold, L0CountsATakeoverAfterTheMinHoldOfACrashedRunAsStolen) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.min_hold = 10min;
  bench.send(first);
  bench.pass(10min - 1us);
  EXPECT_EQ(got<Busy>(bench.acquire("b")).remaining, 1us);
  bench.pass(1us);

  EXPECT_TRUE(got<Granted>(bench.acquire("c")).stole);
  EXPECT_EQ(bench.counted("a", "stolen"), 1);
}

TEST(MinHold, L7KeepsAMinHoldAfterACrashNoLongerThanItIsThoughTheClockWentBack) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.min_hold = 10min;
  bench.send(first);
  bench.pass(-std::chrono::hours(5));
  EXPECT_EQ(got<Busy>(bench.acquire("b")).remaining, 30s);
  bench.pass(5min);
  const auto refused = got<Busy>(bench.acquire("c"));
  bench.pass(5min);

  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_EQ(refused.remaining, 5min);
  got<Granted>(bench.acquire("d"));
}

TEST(MinHold, OpensALockThatOnlyItsMinHoldKeepsClosed) {
  ScriptBench bench;
  bench.acquire("a");
  auto end = bench.end("a");
  end.min_hold = 10min;
  bench.send(end);
  bench.pass(1min);
  const auto told = bench.revoke();

  EXPECT_FALSE(told.was_held);
  EXPECT_TRUE(told.was_cooling);
  EXPECT_EQ(told.holder, "pod-a");
  EXPECT_EQ(told.remaining, 9min);
  EXPECT_EQ(bench.record().seat, rules::Seat::free);
  EXPECT_EQ(bench.counted("a", "revoked"), 0);
  EXPECT_FALSE(bench.revoke().was_cooling);
  EXPECT_FALSE(got<Granted>(bench.acquire("b")).stole);
}

TEST(MinHold, OpensALockThatACrashLeftInsideItsMinHoldAndClosesItsGrant) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.min_hold = 10min;
  bench.send(first);
  bench.pass(1min);
  const auto told = bench.revoke();

  EXPECT_FALSE(told.was_held);
  EXPECT_TRUE(told.was_cooling);
  EXPECT_EQ(told.remaining, 9min);
  EXPECT_EQ(bench.counted("a", "revoked"), 1);
  EXPECT_FALSE(bench.revoke().was_cooling);
  EXPECT_FALSE(got<Granted>(bench.acquire("b")).stole);
  EXPECT_EQ(bench.counted("a", "stolen"), 0);
  EXPECT_TRUE(got<TooLate>(bench.acquire("a")).closed);
}

TEST(MinHold, L0OfAGrantThatAnOlderProgramReplacedIsIgnored) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.min_hold = 10min;
  bench.send(first);
  bench.release("a");
  bench.acquire("b");
  // As a program of version 0.1.0 leaves it.
  bench.client(
      {"HSET", bench.key(), "min_hold", std::to_string(bench.record().fence - 1) + ":600000000"});
  bench.pass(30s);

  EXPECT_EQ(bench.record().min_hold, 0us);
  EXPECT_FALSE(bench.revoke().was_cooling);
  EXPECT_TRUE(got<Granted>(bench.acquire("c")).stole);
}

}  // namespace
}  // namespace cronlatch::testing
