// SPDX-License-Identifier: Apache-2.0
// The attempt groups of a lock: L5, C2.
#include "rules/lock.h"

namespace cronlatch::testing {
namespace {

class AttemptGroupsTest : public LockTest {};
CRONLATCH_RUN_ON_BOTH(AttemptGroupsTest);

TEST_P(AttemptGroupsTest, C2RepeatedCountedBusyContainsThatTheGroupWasGranted) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.send(first);
  lock.release("a", RunVerdict::failed);
  lock.acquire("b");
  auto last = lock.acquisition("c");
  last.identity.group = "uid";
  last.if_busy = IfBusy::timed_out;
  const auto answer = got<Busy>(lock.send(last));
  const auto again = got<Busy>(lock.send(last));

  EXPECT_TRUE(answer.group_granted);
  EXPECT_EQ(again, answer);
  EXPECT_EQ(lock.counted("c", "runs_busy"), 1);
}

TEST_P(AttemptGroupsTest, C2RepeatsACountedSkipThoughTheGroupWasGrantedSince) {
  Lock lock = new_lock();
  lock.acquire("a");
  auto skipped = lock.acquisition("b");
  skipped.identity.group = "uid";
  const auto answer = got<Busy>(lock.send(skipped));
  lock.release("a");
  auto sibling = lock.acquisition("c");
  sibling.identity.group = "uid";
  got<Granted>(lock.send(sibling));

  EXPECT_FALSE(answer.group_granted);
  EXPECT_FALSE(got<Busy>(lock.send(skipped)).group_granted);
  EXPECT_EQ(lock.counted("b", "runs_skipped"), 1);
}

TEST_P(AttemptGroupsTest, L5RemembersAGroupThatDidNotSucceedForThirtyFiveDays) {
  for (const bool released : {false, true}) {
    Lock lock = new_lock();
    auto first = lock.acquisition("a");
    first.identity.group = "uid";
    lock.send(first);
    if (released) {
      lock.pass(std::chrono::hours(24 * 20));
      auto end = lock.end("a", RunVerdict::failed);
      end.identity.group = "uid";
      lock.send(end);
    }
    lock.pass(std::chrono::hours(24 * 35) - 1us);
    lock.acquire("b");
    auto retry = lock.acquisition("c");
    retry.identity.group = "uid";
    retry.if_busy = IfBusy::wait;

    EXPECT_TRUE(got<Busy>(lock.send(retry)).group_granted) << released;
    lock.pass(1us);
    EXPECT_FALSE(got<Busy>(lock.send(retry)).group_granted) << released;
  }
}

TEST_P(AttemptGroupsTest, L5RemembersAGroupThatSucceededForADay) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.send(first);
  auto end = lock.end("a");
  end.identity.group = "uid";
  lock.send(end);
  lock.pass(std::chrono::hours(24) - 1us);
  lock.acquire("b");
  auto retry = lock.acquisition("c");
  retry.identity.group = "uid";
  retry.if_busy = IfBusy::wait;

  EXPECT_TRUE(got<Busy>(lock.send(retry)).group_granted);
  lock.pass(1us);
  EXPECT_FALSE(got<Busy>(lock.send(retry)).group_granted);
}

TEST_P(AttemptGroupsTest, L5RemembersAGroupThatRanWithoutALock) {
  for (const bool succeeded : {false, true}) {
    Lock lock = new_lock();
    auto end = lock.end("a", RunVerdict::ungated);
    end.fence = 0;
    end.identity.group = "uid";
    end.mark_done = succeeded;
    got<NotHolder>(lock.send(end));
    lock.pass(std::chrono::hours(succeeded ? 24 : 24 * 35) - 1us);
    lock.acquire("b");
    auto retry = lock.acquisition("c");
    retry.identity.group = "uid";
    retry.if_busy = IfBusy::wait;

    EXPECT_TRUE(got<Busy>(lock.send(retry)).group_granted) << succeeded;
    lock.pass(1us);
    EXPECT_FALSE(got<Busy>(lock.send(retry)).group_granted) << succeeded;
  }
}

TEST_P(AttemptGroupsTest, L5DoesNotCountAnAttemptThatWasNeverGrantedAsGranted) {
  Lock lock = new_lock();
  auto end = lock.end("a", RunVerdict::given_back);
  end.fence = 0;
  end.identity.group = "uid";
  lock.send(end);
  lock.acquire("b");
  auto other = lock.acquisition("c");
  other.identity.group = "uid";

  EXPECT_FALSE(got<Busy>(lock.send(other)).group_granted);
}

TEST_P(AttemptGroupsTest, L5CountsTheRecordsOwnGroupAsGrantedThoughTheSetIsLost) {
  Lock lock = new_lock();
  auto first = lock.acquisition("a");
  first.identity.group = "uid";
  lock.send(first);
  lock.lose_groups();
  auto sibling = lock.acquisition("b");
  sibling.identity.group = "uid";

  EXPECT_TRUE(got<Busy>(lock.send(sibling)).group_granted);
}

Reply acquire_of_group(Lock& lock, const std::string& owner, const std::string& group) {
  auto request = lock.acquisition(owner);
  request.identity.group = group;
  return lock.send(request);
}

TEST_P(AttemptGroupsTest, L5KeepsTheNewest10000GroupsOfALock) {
  Lock lock = new_lock();
  lock.add_groups(10'000);
  acquire_of_group(lock, "a", "uid");
  const auto groups = lock.record().groups;

  EXPECT_EQ(groups.size(), 10'000u);
  EXPECT_FALSE(groups.contains("g1"));
  EXPECT_TRUE(groups.contains("g2"));
  EXPECT_TRUE(groups.contains("uid"));
}

TEST_P(AttemptGroupsTest, L5KeepsAGroupGrantedAfterTheClockWentBackThough10000AreKept) {
  Lock lock = new_lock();
  lock.add_groups(10'000);
  lock.pass(-std::chrono::hours(24 * 30));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    got<Granted>(acquire_of_group(lock, "owner" + std::to_string(i), "uid" + std::to_string(i)));
    lock.pass(30s);
  }
  const auto groups = lock.record().groups;

  EXPECT_EQ(groups.size(), 10'000u);
  for (const char* kept : {"uid1", "uid2", "uid3", "g4", "g10000"})
    EXPECT_TRUE(groups.contains(kept)) << kept;
  EXPECT_FALSE(groups.contains("g3"));
}

}  // namespace
}  // namespace cronlatch::testing
