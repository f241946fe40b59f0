// SPDX-License-Identifier: Apache-2.0
// By the rules: what a lock remembers of attempt groups: L5, C2.
#include "rules_test_lock.h"

namespace cronlatch::testing {
namespace {

TEST(RulesAttemptGroups, C2RepeatsWithACountedBusyThatTheGroupWasGranted) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.acquire(first);
  lock.release("a", RunVerdict::failed);
  lock.acquire("b");
  auto last = lock.acquisition("c");
  last.identity.group = "uid";
  last.if_busy = IfBusy::timed_out;
  const auto told = got<Busy>(lock.acquire(last));
  const auto again = got<Busy>(lock.acquire(last));

  EXPECT_TRUE(told.group_granted);
  EXPECT_EQ(again, told);
  EXPECT_EQ(lock.counted("c", "runs_busy"), 1);
}

TEST(RulesAttemptGroups, C2RepeatsACountedSkipThoughTheGroupWasGrantedSince) {
  Lock lock;
  lock.acquire("a");
  auto skipped = lock.acquisition("b");
  skipped.identity.group = "uid";
  const auto told = got<Busy>(lock.acquire(skipped));
  lock.release("a");
  auto sibling = lock.acquisition("c");
  sibling.identity.group = "uid";
  got<Granted>(lock.acquire(sibling));

  EXPECT_FALSE(told.group_granted);
  EXPECT_FALSE(got<Busy>(lock.acquire(skipped)).group_granted);
  EXPECT_EQ(lock.counted("b", "runs_skipped"), 1);
}

TEST(RulesAttemptGroups, L5RemembersAGroupThatDidNotSucceedForThirtyFiveDays) {
  for (const bool released : {false, true}) {
    Lock lock;
    auto first = lock.acquisition("a");
    first.identity.group = "uid";
    lock.acquire(first);
    if (released) {
      lock.pass(std::chrono::hours(24 * 20));
      auto end = lock.end("a", RunVerdict::failed);
      end.identity.group = "uid";
      lock.release(end);
    }
    lock.pass(std::chrono::hours(24 * 35) - 1us);
    lock.acquire("b");
    auto retry = lock.acquisition("c");
    retry.identity.group = "uid";
    retry.if_busy = IfBusy::wait;

    EXPECT_TRUE(got<Busy>(lock.acquire(retry)).group_granted) << released;
    lock.pass(1us);
    EXPECT_FALSE(got<Busy>(lock.acquire(retry)).group_granted) << released;
  }
}

TEST(RulesAttemptGroups, L5RemembersAGroupThatSucceededForADay) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.acquire(first);
  auto end = lock.end("a");
  end.identity.group = "uid";
  lock.release(end);
  lock.pass(std::chrono::hours(24) - 1us);
  lock.acquire("b");
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  retry.if_busy = IfBusy::wait;

  EXPECT_TRUE(got<Busy>(lock.acquire(retry)).group_granted);
  lock.pass(1us);
  EXPECT_FALSE(got<Busy>(lock.acquire(retry)).group_granted);
}

TEST(RulesAttemptGroups, L5RemembersAGroupThatRanWithoutALock) {
  for (const bool succeeded : {false, true}) {
    Lock lock;
    auto end = lock.end("a", RunVerdict::ungated);
    end.fence = 0;
    end.identity.group = "uid";
    end.mark_done = succeeded;
    got<NotHolder>(lock.release(end));
    lock.pass(std::chrono::hours(succeeded ? 24 : 24 * 35) - 1us);
    lock.acquire("b");
    auto retry = lock.acquisition("c");
    retry.identity.group = "uid";
    retry.if_busy = IfBusy::wait;

    EXPECT_TRUE(got<Busy>(lock.acquire(retry)).group_granted) << succeeded;
    lock.pass(1us);
    EXPECT_FALSE(got<Busy>(lock.acquire(retry)).group_granted) << succeeded;
  }
}

TEST(RulesAttemptGroups, L5DoesNotTakeAnAttemptThatWasNeverGrantedForAGrantedOne) {
  Lock lock;
  auto end = lock.end("a", RunVerdict::given_back);
  end.fence = 0;
  end.identity.group = "uid";
  lock.release(end);
  lock.acquire("b");
  auto other = lock.acquisition("c");
  other.identity.group = "uid";

  EXPECT_FALSE(got<Busy>(lock.acquire(other)).group_granted);
}

TEST(RulesAttemptGroups, L5CountsTheRecordsOwnGroupAsGrantedThoughTheSetIsLost) {
  Lock lock;
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.acquire(first);
  lock.record.groups.clear();
  auto sibling = lock.acquisition("b");
  sibling.identity.group = "uid";

  EXPECT_TRUE(got<Busy>(lock.acquire(sibling)).group_granted);
}

TEST(RulesAttemptGroups, L5KeepsTheNewest10000GroupsThoughTheClockWentBack) {
  Lock lock;
  for (int i = 1; i <= 10'000; ++i)
    lock.record.groups["g" + std::to_string(i)] =
        (lock.now + rules::kGroupAhead - 1min * (10'001 - i)).us;
  lock.pass(-std::chrono::hours(24 * 30));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    auto a = lock.acquisition("owner" + std::to_string(i));
    a.identity.group = "uid" + std::to_string(i);
    got<Granted>(lock.acquire(a));
    lock.pass(30s);
  }

  EXPECT_EQ(lock.record.groups.size(), 10'000u);
  for (const char* fresh : {"uid1", "uid2", "uid3", "g4", "g10000"})
    EXPECT_TRUE(lock.record.groups.contains(fresh)) << fresh;
  EXPECT_FALSE(lock.record.groups.contains("g3"));
}

}  // namespace
}  // namespace cronlatch::testing
