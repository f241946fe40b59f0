// SPDX-License-Identifier: Apache-2.0
// On a real server: what a lock remembers of attempt groups: L5, C2.
#include "script_bench.h"

namespace cronlatch::testing {
namespace {

TEST(AttemptGroups, C2RepeatsWithACountedBusyThatTheGroupWasGranted) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.group = "uid";
  bench.send(first);
  bench.release("a", RunVerdict::failed);
  bench.acquire("b");
  auto last = bench.acquisition("c");
  last.identity.group = "uid";
  last.if_busy = IfBusy::timed_out;
  const auto told = got<Busy>(bench.send(last).reply);
  const auto again = got<Busy>(bench.send(last).reply);

  EXPECT_TRUE(told.group_granted);
  EXPECT_EQ(again, told);
  EXPECT_EQ(bench.counted("c", "runs_busy"), 1);
}

TEST(AttemptGroups, C2RepeatsACountedSkipThoughTheGroupWasGrantedSince) {
  ScriptBench bench;
  bench.acquire("a");
  auto skipped = bench.acquisition("b");
  skipped.identity.group = "uid";
  const auto told = got<Busy>(bench.send(skipped).reply);
  bench.release("a");
  auto sibling = bench.acquisition("c");
  sibling.identity.group = "uid";
  got<Granted>(bench.send(sibling).reply);

  EXPECT_FALSE(told.group_granted);
  EXPECT_FALSE(got<Busy>(bench.send(skipped).reply).group_granted);
  EXPECT_EQ(bench.counted("b", "runs_skipped"), 1);
}

TEST(AttemptGroups, L5RemembersAGroupThatDidNotSucceedForThirtyFiveDays) {
  for (const bool released : {false, true}) {
    ScriptBench bench;
    auto first = bench.acquisition("a");
    first.identity.group = "uid";
    bench.send(first);
    if (released) {
      bench.pass(std::chrono::hours(24 * 20));
      auto end = bench.end("a", RunVerdict::failed);
      end.identity.group = "uid";
      bench.send(end);
    }
    bench.pass(std::chrono::hours(24 * 35) - 1us);
    bench.acquire("b");
    auto retry = bench.acquisition("c");
    retry.identity.group = "uid";
    retry.if_busy = IfBusy::wait;

    EXPECT_TRUE(got<Busy>(bench.send(retry).reply).group_granted) << released;
    bench.pass(1us);
    EXPECT_FALSE(got<Busy>(bench.send(retry).reply).group_granted) << released;
  }
}

TEST(AttemptGroups, L5RemembersAGroupThatSucceededForADay) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.group = "uid";
  bench.send(first);
  auto end = bench.end("a");
  end.identity.group = "uid";
  bench.send(end);
  bench.pass(std::chrono::hours(24) - 1us);
  bench.acquire("b");
  auto retry = bench.acquisition("c");
  retry.identity.group = "uid";
  retry.if_busy = IfBusy::wait;

  EXPECT_TRUE(got<Busy>(bench.send(retry).reply).group_granted);
  bench.pass(1us);
  EXPECT_FALSE(got<Busy>(bench.send(retry).reply).group_granted);
}

TEST(AttemptGroups, L5RemembersAGroupThatRanWithoutALock) {
  for (const bool succeeded : {false, true}) {
    ScriptBench bench;
    auto end = bench.end("a", RunVerdict::ungated);
    end.fence = 0;
    end.identity.group = "uid";
    end.mark_done = succeeded;
    got<NotHolder>(bench.send(end).reply);
    bench.pass(std::chrono::hours(succeeded ? 24 : 24 * 35) - 1us);
    bench.acquire("b");
    auto retry = bench.acquisition("c");
    retry.identity.group = "uid";
    retry.if_busy = IfBusy::wait;

    EXPECT_TRUE(got<Busy>(bench.send(retry).reply).group_granted) << succeeded;
    bench.pass(1us);
    EXPECT_FALSE(got<Busy>(bench.send(retry).reply).group_granted) << succeeded;
  }
}

TEST(AttemptGroups, L5DoesNotTakeAnAttemptThatWasNeverGrantedForAGrantedOne) {
  ScriptBench bench;
  auto end = bench.end("a", RunVerdict::given_back);
  end.fence = 0;
  end.identity.group = "uid";
  bench.send(end);
  bench.acquire("b");
  auto other = bench.acquisition("c");
  other.identity.group = "uid";

  EXPECT_FALSE(got<Busy>(bench.send(other).reply).group_granted);
}

TEST(AttemptGroups, L5CountsTheRecordsOwnGroupAsGrantedThoughTheSetIsLost) {
  ScriptBench bench;
  auto first = bench.acquisition("a");
  first.identity.group = "uid";
  bench.send(first);
  bench.client({"DEL", bench.key(":groups")});
  auto sibling = bench.acquisition("b");
  sibling.identity.group = "uid";

  EXPECT_TRUE(got<Busy>(bench.send(sibling).reply).group_granted);
}

// Groups g1 to g<n>, each dated a minute after the one before, the last a minute before now.
void remember_groups(ScriptBench& bench, int n) {
  std::vector<std::string> command{"ZADD", bench.key(":groups")};
  for (int i = 1; i <= n; ++i) {
    command.push_back(std::to_string((bench.now + rules::kGroupAhead - 1min * (n + 1 - i)).us));
    command.push_back("g" + std::to_string(i));
  }
  ASSERT_FALSE(bench.client(command).is_error());
}

std::string rank_of(ScriptBench& bench, const std::string& group) {
  return bench.client({"ZSCORE", bench.key(":groups"), group}).text;
}

Reply acquire_of_group(ScriptBench& bench, const std::string& owner, const std::string& group) {
  auto a = bench.acquisition(owner);
  a.identity.group = group;
  return bench.send(a).reply;
}

TEST(AttemptGroups, L5KeepsTheNewest10000GroupsOfALock) {
  ScriptBench bench;
  bench.read_sets = false;
  remember_groups(bench, 10'000);
  acquire_of_group(bench, "a", "uid");
  EXPECT_EQ(bench.client({"ZCARD", bench.key(":groups")}).integer, 10'000);
  EXPECT_EQ(rank_of(bench, "g1"), "");
  EXPECT_NE(rank_of(bench, "g2"), "");
  EXPECT_NE(rank_of(bench, "uid"), "");
}

TEST(AttemptGroups, L5KeepsAGroupGrantedAfterTheClockWentBackThough10000AreKept) {
  ScriptBench bench;
  bench.read_sets = false;
  remember_groups(bench, 10'000);
  bench.pass(-std::chrono::hours(24 * 30));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    got<Granted>(acquire_of_group(bench, "owner" + std::to_string(i), "uid" + std::to_string(i)));
    bench.pass(30s);
  }
  for (const char* fresh : {"uid1", "uid2", "uid3", "g4", "g10000"})
    EXPECT_NE(rank_of(bench, fresh), "") << fresh;
  EXPECT_EQ(rank_of(bench, "g3"), "");
}

TEST(AttemptGroups, L5ForgetsAtMostAHundredGroupsInOneCall) {
  ScriptBench bench;
  bench.read_sets = false;
  remember_groups(bench, 10'250);
  acquire_of_group(bench, "a", "uid");
  EXPECT_EQ(bench.client({"ZCARD", bench.key(":groups")}).integer, 10'151);
}

}  // namespace
}  // namespace cronlatch::testing
