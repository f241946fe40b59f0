// SPDX-License-Identifier: Apache-2.0
// The contract of every store: counters, list, show and revoke.
#include <gmock/gmock.h>

#include <map>

#include "contract/store_contract.h"

namespace cronlatch::testing {
namespace {

// ---- counters ----

TEST_P(StoreContract, BusyIsCountedAsTheRequestSelects) {
  auto holder = program("1");
  granted(holder(holder.acquire()));
  const std::map<IfBusy, std::map<std::string, std::int64_t>> table = {
      {IfBusy::wait, {}},
      {IfBusy::skip, {{"skipped_held", 1}, {"runs_skipped", 1}}},
      {IfBusy::fail, {{"runs_busy", 1}}},
      {IfBusy::timed_out, {{"wait_timeouts", 1}, {"runs_busy", 1}}}};
  for (const auto& [if_busy, expected] : table) {
    const std::string job = "shop/job-" + std::to_string(static_cast<int>(if_busy));
    auto asker = program("asker-" + std::to_string(static_cast<int>(if_busy)), job);
    Acquire request = asker.acquire();
    request.if_busy = if_busy;
    busy(asker(request));
    busy(asker(request));  // the same request is counted once
    auto counters = asker.show().jobs[job].values;
    EXPECT_EQ(counters.erase("last_skip"), if_busy == IfBusy::skip ? 1u : 0u);
    std::erase_if(counters, [](const auto& counter) { return counter.second == 0; });
    EXPECT_THAT(counters, ::testing::ElementsAreArray(expected)) << job;
  }
}

TEST_P(StoreContract, EveryVerdictIsCounted) {
  const std::map<RunVerdict, std::map<std::string, std::int64_t>> table = {
      {RunVerdict::succeeded, {{"runs_succeeded", 1}}},
      {RunVerdict::failed, {{"runs_failed", 1}}},
      {RunVerdict::timed_out, {{"runs_timed_out", 1}}},
      {RunVerdict::lost, {{"lost", 1}, {"runs_lost", 1}}},
      {RunVerdict::cannot_start, {{"runs_cannot_start", 1}}},
      {RunVerdict::given_back, {}},
  };
  for (const auto& [verdict, extra] : table) {
    const std::string name = std::to_string(static_cast<int>(verdict));
    auto one = program("owner-" + name, "shop/job-" + name);
    EXPECT_TRUE(is_released(one(one.release(granted(one(one.acquire())).fence, verdict))));
    std::map<std::string, std::int64_t> expected = extra;
    expected["acquired"] = expected["released"] = 1;
    if (verdict != RunVerdict::given_back) {
      expected["hold_1"] = 1;
      expected["hold_ms"] = 1'500;
    }
    auto counters = one.show().jobs["shop/job-" + name].values;
    EXPECT_EQ(counters.erase("last_success"), verdict == RunVerdict::succeeded ? 1u : 0u);
    std::erase_if(counters, [](const auto& counter) { return counter.second == 0; });
    EXPECT_THAT(counters, ::testing::ElementsAreArray(expected)) << name;
    expect_law(one, false);
  }
}

TEST_P(StoreContract, AnOverlongRunIsCounted) {
  auto one = program("1");
  Release release = one.release(granted(one(one.acquire())).fence);
  release.overlong = true;
  one(release);
  EXPECT_EQ(one.count("long"), 1);
}

TEST_P(StoreContract, AWaitIsCountedWithItsGrant) {
  auto one = program("1");
  Acquire request = one.acquire();
  request.if_busy = IfBusy::wait;
  request.waited = Millis(2'000);
  granted(one(request));
  EXPECT_EQ(one.count("wait_ms"), 2'000);
  EXPECT_EQ(one.count("wait_2"), 1);
}

TEST_P(StoreContract, ALossIsCountedOnceWhileAnotherRunIsRecorded) {
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  granted(two(two.acquire()));
  one(one.release(5, RunVerdict::lost));
  one(one.release(5, RunVerdict::lost));
  EXPECT_EQ(two.show().jobs["shop/one"].get("lost"), 1);
  EXPECT_EQ(two.show().jobs["shop/one"].get("runs_lost"), 1);
  EXPECT_EQ(two.show().identity, two.identity());
  expect_law(two, true);
}

TEST_P(StoreContract, TheVerdictOfAFormerHolderIsCountedOnce) {
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  two(two.release(granted(two(two.acquire())).fence));
  ++two.claim().attempt;
  const Fence fence = granted(two(two.acquire())).fence;
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(is_not_holder(one(one.release(fence - 1)), LostReason::taken));
  EXPECT_EQ(two.show().jobs["shop/one"].get("runs_succeeded"), 1);
  EXPECT_GT(two.show().jobs["shop/one"].get("last_success"), 0);
  EXPECT_EQ(two.show().jobs["shop/one"].get("released"), 0);
  expect_law(two, true);
}

TEST_P(StoreContract, AnUngatedRunIsCountedWhileAnotherRunHolds) {
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  granted(two(two.acquire()));
  one(one.release(0, RunVerdict::ungated));
  EXPECT_EQ(two.show().jobs["shop/one"].get("ungated"), 1);
  EXPECT_EQ(two.show().state, LockState::held);
}

// ---- list, show, revoke ----

TEST_P(StoreContract, AnUnknownLockIsFreeAndReadingWritesNothing) {
  auto one = program("1");
  const LockView view = one.show("never/seen");
  EXPECT_EQ(view.lock, "never/seen");
  EXPECT_EQ(view.state, LockState::free);
  EXPECT_EQ(view.fence, 0u);
  EXPECT_TRUE(view.jobs.empty());
  const auto listed = one.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok());
  EXPECT_TRUE(listed->empty());
}

TEST_P(StoreContract, ListsLocksByName) {
  std::vector<std::unique_ptr<Caller>> programs;
  for (const char* lock : {"b/2", "a", "b/10", "c", "a-b", "a/b"}) {
    programs.push_back(std::make_unique<Caller>(*world_, lock, lock));
    granted((*programs.back())(programs.back()->acquire()));
  }
  const auto listed = programs[0]->backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok());
  std::vector<std::string> names;
  for (const LockView& view : *listed) {
    names.push_back(view.lock);
    EXPECT_EQ(view.state, LockState::held) << view.lock;
    EXPECT_EQ(view.identity.holder, "host-of-" + view.lock);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("a", "a-b", "a/b", "b/10", "b/2", "c"));
}

TEST_P(StoreContract, RevokedIsReturnedByTheNextRenewalAndNoGrantOverlaps) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;

  const auto revoked = two.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok());
  EXPECT_TRUE(revoked->was_held);
  EXPECT_EQ(revoked->holder, one.identity().holder);
  EXPECT_EQ(revoked->fence, fence);
  EXPECT_GT(revoked->remaining, Millis(30'000));
  EXPECT_EQ(one.show().state, LockState::revoked);
  expect_law(one, false);

  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::held);
  EXPECT_TRUE(is_not_holder(one(one.renew(fence)), LostReason::revoked));
  EXPECT_TRUE(is_released(one(one.release(fence, RunVerdict::lost))));
  EXPECT_EQ(one.count("revoked"), 1);
  EXPECT_EQ(one.count("released"), 0);
  ++two.claim().attempt;
  EXPECT_FALSE(granted(two(two.acquire())).stole);
  expect_law(two, true);
}

TEST_P(StoreContract, RevokedTwiceIsCountedOnce) {
  ONLY_LEASED();
  auto one = program("1");
  granted(one(one.acquire()));
  EXPECT_TRUE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_held);
  EXPECT_TRUE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_held);
  EXPECT_EQ(one.count("revoked"), 1);
}

TEST_P(StoreContract, ARevokedLeaseThatExpiredIsNotStolen) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  Acquire request = one.acquire();
  request.ttl = Millis(300);
  granted(one(request));
  ASSERT_TRUE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_held);
  world_->pass(Millis(350));
  EXPECT_FALSE(granted(two(two.acquire())).stole);
  EXPECT_EQ(two.count("stolen"), 0);
  expect_law(two, true);
}

TEST_P(StoreContract, RevokingAHeldLockIsRefusedWithoutALease) {
  if (world_->leased()) GTEST_SKIP() << "a store with leases can revoke";
  auto one = program("1");
  granted(one(one.acquire()));
  const LockView before = one.show();
  const auto revoked = one.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_FALSE(revoked.ok());
  EXPECT_NE(revoked.error().message.find(std::to_string(getpid())), std::string::npos);
  EXPECT_NE(revoked.error().hint.find("kill " + std::to_string(getpid())), std::string::npos);
  expect_same(before, one.show());
}

TEST_P(StoreContract, RevokingAFreeLockDoesNothing) {
  auto one = program("1");
  const auto unknown = one.backend().revoke("never/seen", boot_now() + kPatience);
  ASSERT_TRUE(unknown.ok());
  EXPECT_FALSE(unknown->was_held);
  one(one.release(granted(one(one.acquire())).fence));
  const auto released = one.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_TRUE(released.ok());
  EXPECT_FALSE(released->was_held);
  EXPECT_EQ(one.count("revoked"), 0);
}

}  // namespace
}  // namespace cronlatch::testing
