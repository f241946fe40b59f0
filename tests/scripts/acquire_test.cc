// SPDX-License-Identifier: Apache-2.0
// Acquire on a real server: one test per invariant (docs/guarantees.md).
#include "script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(Acquire, AQ1GrantsAFreeLockAndNoOtherUntilTheLeaseIsOver) {
  ScriptBench bench;
  const auto first = got<Granted>(bench.acquire("a"));
  bench.pass(30s - 1us);
  const auto refused = got<Busy>(bench.acquire("b"));
  bench.pass(1us);
  const auto second = got<Granted>(bench.acquire("c"));

  EXPECT_TRUE(first.leased);
  EXPECT_EQ(refused, (Busy{BusyReason::held, "pod-a", "ns/a", first.fence, 30s - 1us, 1us, false}));
  EXPECT_EQ(second.fence, first.fence + 30'000'000);
}

TEST(Acquire, AQ2FenceIsTheServerTimeOrOneMoreThanTheLastExactTo16Digits) {
  ScriptBench bench;
  bench.now = {1'795'201'626'198'651};
  const auto first = got<Granted>(bench.acquire("a"));
  bench.release("a");
  bench.pass(-10s);
  const auto second = got<Granted>(bench.acquire("b"));

  EXPECT_EQ(first.fence, 1'795'201'626'198'651u);
  EXPECT_EQ(second.fence, 1'795'201'626'198'652u);
  EXPECT_EQ(bench.client({"HGET", bench.key(), "fence"}).text, "1795201626198652");
}

TEST(Acquire, AQ3CountsAnExpiredPredecessorAsStolenOnce) {
  ScriptBench bench;
  const Fence lost = got<Granted>(bench.acquire("a")).fence;
  bench.pass(30s);
  const auto thief = got<Granted>(bench.acquire("b"));
  const auto again = got<Granted>(bench.acquire("b"));

  EXPECT_TRUE(thief.stole);
  EXPECT_EQ(again, thief);
  EXPECT_EQ(bench.record().stole, lost);
  EXPECT_EQ(bench.counted("a", "stolen"), 1);
  EXPECT_EQ(bench.counted("b", "stolen"), 0);
}

TEST(Acquire, AQ4AnswersTheSameClaimAlikeAndCountsItOnce) {
  ScriptBench bench;
  const auto first = got<Granted>(bench.acquire("a"));
  bench.pass(10s);
  const auto again = got<Granted>(bench.acquire("a"));

  EXPECT_EQ(first, again);
  EXPECT_EQ(bench.record().expires, bench.now + 30s);
  EXPECT_EQ(bench.counted("a", "acquired"), 1);
}

TEST(Acquire, AQ4RefusesAnAttemptThatIsOver) {
  ScriptBench bench;
  const auto is_over = [&](const std::string& how) {
    const auto before = bench.record();
    EXPECT_TRUE(got<TooLate>(bench.acquire("a")).closed) << how;
    EXPECT_EQ(bench.record(), before) << how;
    bench.lock += "+";
  };
  bench.acquire("a");
  bench.pass(30s);
  is_over("expired");
  bench.acquire("a");
  bench.pass(30s);
  bench.acquire("b");
  is_over("stolen");
  bench.acquire("a");
  bench.release("a");
  is_over("released");
  bench.acquire("a", 2);
  is_over("followed");
  bench.acquire("a");
  bench.revoke();
  is_over("revoked");
  bench.release("a", RunVerdict::given_back);
  is_over("given back before it arrived");
}

TEST(Acquire, AQ5CountsBusyAsTheCallerWishesAndForItsJob) {
  ScriptBench bench;
  bench.acquire("a");
  const auto ask = [&](const std::string& owner, IfBusy wish) {
    auto request = bench.acquisition(owner);
    request.if_busy = wish;
    got<Busy>(bench.send(request).reply);
  };
  const auto before = bench.record();
  ask("w", IfBusy::wait);
  EXPECT_EQ(bench.record(), before);
  ask("s", IfBusy::skip);
  ask("f", IfBusy::fail);
  ask("t", IfBusy::timed_out);

  EXPECT_EQ(bench.counted("s", "skipped_held"), 1);
  EXPECT_EQ(bench.counted("s", "runs_skipped"), 1);
  EXPECT_EQ(bench.counted("s", "last_skip"), bench.now.us);
  EXPECT_EQ(bench.counted("f", "runs_busy"), 1);
  EXPECT_EQ(bench.counted("f", "skipped_held"), 0);
  EXPECT_EQ(bench.counted("t", "runs_busy"), 1);
  EXPECT_EQ(bench.counted("t", "wait_timeouts"), 1);
}

TEST(Acquire, C2AnswersACountedSkipAlikeEvenWhenTheLockIsFreeByThen) {
  ScriptBench bench;
  bench.acquire("a");
  bench.acquire("b");
  bench.release("a");

  EXPECT_EQ(got<Busy>(bench.acquire("b")).reason, BusyReason::held);
  EXPECT_EQ(bench.counted("b", "skipped_held"), 1);
  got<Granted>(bench.acquire("b", 2));
}

TEST(Acquire, C2ForgetsACountedSkipAfterTenMinutes) {
  ScriptBench bench;
  bench.acquire("a");
  bench.acquire("b");
  bench.pass(10min - 1us);
  got<Busy>(bench.acquire("b"));
  bench.pass(1us);

  got<Granted>(bench.acquire("b"));
}

TEST(Acquire, G5ChangesNothingAfterItsTime) {
  ScriptBench bench;
  const auto late = bench.send(bench.acquisition("a"), bench.now - 1us);
  EXPECT_FALSE(got<TooLate>(late.reply).closed);
  EXPECT_EQ(bench.client({"DBSIZE"}).integer, 0);
  got<Granted>(bench.send(bench.acquisition("a"), bench.now).reply);
}

TEST(Acquire, G7KeepsStateAndCountersWhileOpenAndNinetyDaysAfterwards) {
  ScriptBench bench;
  const auto ttl_of = [&](const std::string& suffix) {
    return bench.client({"PTTL", bench.key(suffix)}).integer;
  };
  constexpr std::int64_t ninety_days = 90LL * 86'400'000;
  bench.acquire("a");
  EXPECT_EQ(ttl_of(""), -1);
  EXPECT_EQ(ttl_of(":stats"), -1);
  bench.release("a");
  EXPECT_NEAR(static_cast<double>(ttl_of("")), ninety_days, 60'000);
  EXPECT_NEAR(static_cast<double>(ttl_of(":stats")), ninety_days, 60'000);
  bench.acquire("b");
  EXPECT_EQ(ttl_of(""), -1);
  EXPECT_EQ(ttl_of(":stats"), -1);
  bench.revoke();
  EXPECT_NEAR(static_cast<double>(ttl_of("")), ninety_days, 60'000);
  EXPECT_NEAR(static_cast<double>(ttl_of(":stats")), ninety_days, 60'000);
}

TEST(Acquire, K3RefusesARunThatIsDoneWhoeverAsksAndCountsItOnce) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.once = "tick";
  got<Granted>(bench.send(first).reply);
  auto end = bench.end("a");
  end.identity.once = "tick";
  got<Released>(bench.send(end).reply);
  auto second = bench.acquisition("b");
  second.identity.job = "ns/a";
  second.identity.once = "tick";
  second.if_busy = IfBusy::wait;
  const auto told = got<Busy>(bench.send(second).reply);
  const auto again = got<Busy>(bench.send(second).reply);
  auto other_job = bench.acquisition("c");
  other_job.identity.once = "tick";

  EXPECT_EQ(told.reason, BusyReason::done);
  EXPECT_EQ(again, told);
  EXPECT_EQ(bench.counted("a", "skipped_done"), 1);
  EXPECT_EQ(bench.counted("a", "runs_skipped"), 1);
  got<Granted>(bench.send(other_job).reply);  // K1: two jobs never block each other's runs
}

TEST(Acquire, K4ClaimsTheRunWithTheGrantAndK3KeepsOthersOutWhileItLives) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.once = "tick";
  bench.send(first);
  auto second = bench.acquisition("b");
  second.identity.job = "ns/a";
  second.identity.once = "tick";
  const auto while_live = got<Busy>(bench.send(second).reply);
  bench.pass(30s);
  second.claim.attempt = 2;

  EXPECT_EQ(while_live.reason, BusyReason::held);
  EXPECT_EQ(bench.record().identity.once, "tick");
  got<Granted>(bench.send(second).reply);  // K5: a lost run may be claimed again
}

TEST(Acquire, L0KeepsTheLockClosedForTheRestOfMinHoldButNotForItsOwnGroup) {
  ScriptBench bench;
  auto ask = bench.acquisition("a");
  ask.identity.group = "uid";
  bench.send(ask);
  bench.pass(4s);
  auto end = bench.end("a", RunVerdict::failed);
  end.min_hold = 60s;
  bench.send(end);
  const auto refused = got<Busy>(bench.acquire("b"));
  auto retry = bench.acquisition("c");
  retry.identity.group = "uid";
  const auto own = got<Granted>(bench.send(retry).reply);
  auto end_again = bench.end("c", RunVerdict::failed);
  end_again.min_hold = 60s;
  bench.send(end_again);
  bench.pass(60s);

  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_EQ(refused.remaining, 56s);
  EXPECT_FALSE(own.stole);
  EXPECT_FALSE(got<Granted>(bench.acquire("d")).stole);
  EXPECT_EQ(bench.counted("c", "stolen"), 0);
}

TEST(Acquire, L0RestOfMinHoldIsNotCutByTheClamp) {
  ScriptBench bench;
  bench.acquire("a");
  auto end = bench.end("a");
  end.min_hold = 10min;
  bench.send(end);

  EXPECT_EQ(got<Busy>(bench.acquire("b")).remaining, 10min);
}

TEST(Acquire, L0RestIsNeverMoreThanTheMinHoldThoughTheClockWentBack) {
  ScriptBench bench;
  bench.acquire("a");
  bench.pass(-std::chrono::hours(5));
  auto end = bench.end("a");
  end.min_hold = 60s;
  bench.send(end);

  EXPECT_EQ(got<Busy>(bench.acquire("b")).remaining, 60s);
}

TEST(Acquire, L5TellsAGroupThatWasGrantedAndDoesNotCountItsSkip) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.group = "uid";
  bench.send(first);
  bench.release("a", RunVerdict::failed);
  bench.acquire("b");
  auto retry = bench.acquisition("c");
  retry.identity.group = "uid";
  const auto told = got<Busy>(bench.send(retry).reply);
  retry.if_busy = IfBusy::fail;
  bench.send(retry);

  EXPECT_TRUE(told.group_granted);
  EXPECT_EQ(bench.counted("c", "runs_skipped") + bench.counted("c", "runs_busy"), 0);
  retry.if_busy = IfBusy::timed_out;
  EXPECT_TRUE(got<Busy>(bench.send(retry).reply).group_granted);
  EXPECT_EQ(bench.counted("c", "runs_busy"), 1);
}

TEST(Acquire, L7NeverWaitsLongerThanTheLeaseAfterTheClockWentBack) {
  ScriptBench bench;
  bench.acquire("a");
  bench.pass(-std::chrono::hours(5));
  const auto refused = got<Busy>(bench.acquire("b"));

  EXPECT_EQ(refused.remaining, 30s);
  EXPECT_EQ(bench.record().expires, bench.now + 30s);
}

TEST(Acquire, CountsTheWaitOfAGrantThatWasWaitedFor) {
  ScriptBench bench;
  auto ask = bench.acquisition("a");
  ask.waited = 4s;
  bench.send(ask);
  bench.send(ask);

  EXPECT_EQ(bench.counted("a", "wait_2"), 1);
  EXPECT_EQ(bench.counted("a", "wait_ms"), 4'000);
}

TEST(Acquire, AsksForTheIndexOncePerLockAndDay) {
  ScriptBench bench;
  EXPECT_TRUE(bench.send(bench.acquisition("a")).index);
  bench.release("a");
  EXPECT_FALSE(bench.send(bench.acquisition("a", 2)).index);
  bench.release("a", RunVerdict::succeeded, 2);
  bench.pass(std::chrono::hours(24));
  EXPECT_TRUE(bench.send(bench.acquisition("a", 3)).index);
}

TEST(Acquire, G3ForgetsAtMostAHundredOldEntriesInOneCall) {
  ScriptBench bench;
  for (int i = 0; i < 150; ++i) {
    bench.client({"ZADD", bench.key(":seen"), "5", "old:" + std::to_string(i) + ":h"});
    bench.client({"ZADD", bench.key(":groups"), "5", "old" + std::to_string(i)});
  }
  auto ask = bench.acquisition("a");
  ask.identity.group = "uid";
  bench.send(ask);
  bench.release("a");

  EXPECT_EQ(bench.client({"ZCARD", bench.key(":groups")}).integer, 51);
  EXPECT_EQ(bench.client({"ZCARD", bench.key(":seen")}).integer, 51);
}

}  // namespace
}  // namespace cronlatch::testing
