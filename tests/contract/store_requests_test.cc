// SPDX-License-Identifier: Apache-2.0
// The contract of every store: acquire, release, requests after their deadline.
#include <gmock/gmock.h>

#include <map>

#include "contract/store_contract.h"

namespace cronlatch::testing {
namespace {

// ---- acquire ----

TEST_P(StoreContract, GrantsAFreeLock) {
  auto one = program("1");
  const TimePoint before = boot_now();
  const Granted got = granted(one(one.acquire()));
  EXPECT_GT(got.fence, 0u);
  EXPECT_EQ(got.leased, world_->leased());
  EXPECT_FALSE(got.stole);
  EXPECT_GE(got.sent_at, before);
  EXPECT_LE(got.sent_at, boot_now());
  expect_law(one, true);
}

TEST_P(StoreContract, ShowsTheHolderOfAGrant) {
  auto one = program("1");
  one.identity().group = "job-uid";
  one.identity().once = "tick-1";
  const Granted got = granted(one(one.acquire()));

  const LockView view = one.show();
  EXPECT_EQ(view.lock, one.lock());
  EXPECT_EQ(view.state, LockState::held);
  EXPECT_TRUE(view.open());
  EXPECT_EQ(view.identity, one.identity());
  EXPECT_EQ(view.fence, got.fence);
  EXPECT_EQ(view.attempt, 1u);
  EXPECT_LE(view.acquired, view.now);
  if (world_->leased()) {
    EXPECT_EQ(view.ttl, Millis(60'000));
    EXPECT_EQ(view.expires - view.acquired, Micros(60'000'000));
  } else {
    EXPECT_EQ(view.expires, ServerTime{});
    EXPECT_EQ(view.pid, getpid());
  }
}

TEST_P(StoreContract, BusyContainsTheHolderAndTheTimes) {
  auto one = program("1"), two = program("2", "shop/other");
  const Granted got = granted(one(one.acquire()));
  world_->pass(Millis(30));

  const Busy refused = busy(two(two.acquire()));
  EXPECT_EQ(refused.reason, BusyReason::held);
  EXPECT_EQ(refused.holder, one.identity().holder);
  EXPECT_EQ(refused.job, "shop/report");
  EXPECT_EQ(refused.fence, got.fence);
  EXPECT_GE(refused.held_for, Millis(30));
  EXPECT_LT(refused.held_for, Millis(30'000));
  EXPECT_FALSE(refused.group_granted);
  if (world_->leased()) {
    EXPECT_GT(refused.remaining, Millis(30'000));
    EXPECT_LE(refused.remaining, Millis(60'000));
  } else {
    EXPECT_EQ(refused.remaining, Micros(0));
  }
}

TEST_P(StoreContract, RepeatedClaimGetsTheSameFence) {
  auto one = program("1");
  const Granted first = granted(one(one.acquire()));
  const Granted again = granted(one(one.acquire()));
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_FALSE(again.stole);
  EXPECT_EQ(one.count("acquired"), 1);
}

TEST_P(StoreContract, FenceRisesWithEveryGrant) {
  auto one = program("1");
  Fence last = 0;
  for (int round = 0; round < 5; ++round) {
    const Fence fence = granted(one(one.acquire())).fence;
    EXPECT_GT(fence, last);
    last = fence;
    EXPECT_TRUE(is_released(one(one.release(fence))));
    ++one.claim().attempt;
    expect_law(one, false);
  }
}

TEST_P(StoreContract, AReleasedAttemptIsNeverGrantedAgain) {
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  one(one.release(fence));
  EXPECT_TRUE(closed(one(one.acquire())));
  ++one.claim().attempt;
  granted(one(one.acquire()));
}

TEST_P(StoreContract, AnEarlierAttemptThanTheGrantedOneIsClosed) {
  auto one = program("1");
  one.claim().attempt = 2;
  granted(one(one.acquire()));
  one.claim().attempt = 1;
  EXPECT_TRUE(closed(one(one.acquire())));
  EXPECT_EQ(one.show().attempt, 2u);
}

TEST_P(StoreContract, AnAttemptReleasedBeforeItArrivedIsNotGranted) {
  auto one = program("1"), two = program("2");
  granted(two(two.acquire()));
  one(one.release(0, RunVerdict::given_back));
  two(two.release(0));
  EXPECT_TRUE(closed(one(one.acquire())));
}

TEST_P(StoreContract, RefusesMoreThanOneSlot) {
  if (world_->has_slots()) GTEST_SKIP() << "supports several slots";
  auto one = program("1");
  Acquire request = one.acquire();
  request.slots = 2;
  const auto reply = one(request);
  ASSERT_TRUE(reply && std::holds_alternative<Unavailable>(*reply));
  EXPECT_EQ(std::get<Unavailable>(*reply).error.code, Code::config);
  EXPECT_FALSE(std::get<Unavailable>(*reply).transient);
}

TEST_P(StoreContract, LocksAreIndependent) {
  Caller one(*world_, "shop/a", "1"), two(*world_, "shop/b", "2"), three(*world_, "shop/a.b", "3");
  granted(one(one.acquire()));
  granted(two(two.acquire()));
  granted(three(three.acquire()));
  EXPECT_EQ(one.show().identity, one.identity());
  EXPECT_EQ(two.show().identity, two.identity());
}

TEST_P(StoreContract, AcceptsTheLongestName) {
  Caller one(*world_, std::string(100, '/') + std::string(99, '.') + "z", "1"),
      two(*world_, one.lock(), "2");
  granted(one(one.acquire()));
  busy(two(two.acquire()));
  EXPECT_EQ(one.show().lock, one.lock());
}

// ---- release ----

TEST_P(StoreContract, ReleaseFreesTheLockForOthers) {
  auto one = program("1"), two = program("2");
  const Granted first = granted(one(one.acquire()));
  EXPECT_TRUE(is_released(one(one.release(first.fence))));
  EXPECT_EQ(one.show().state, LockState::free);
  const Granted second = granted(two(two.acquire()));
  EXPECT_FALSE(second.stole);
  EXPECT_GT(second.fence, first.fence);
}

TEST_P(StoreContract, ReleaseIsIdempotent) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  EXPECT_TRUE(is_released(one(one.release(fence))));
  EXPECT_TRUE(is_released(one(one.release(fence))));
  granted(two(two.acquire()));
  EXPECT_TRUE(is_released(one(one.release(fence))));
  EXPECT_EQ(one.count("released"), 1);
  EXPECT_EQ(one.count("runs_succeeded"), 1);
  EXPECT_EQ(two.show().state, LockState::held);
}

TEST_P(StoreContract, ReleaseByAnotherChangesNothing) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  EXPECT_TRUE(is_not_holder(two(two.release(fence)), LostReason::taken));
  expect_same(before, one.show());
}

TEST_P(StoreContract, ReleaseOfAnotherAttemptChangesNothing) {
  auto one = program("1");
  one.claim().attempt = 2;
  const Fence fence = granted(one(one.acquire())).fence;
  one.claim().attempt = 1;
  EXPECT_TRUE(is_not_holder(one(one.release(fence)), LostReason::taken));
  EXPECT_EQ(one.show().state, LockState::held);
}

// ---- requests after their deadline ----

TEST_P(StoreContract, ALateAcquireChangesNothing) {
  auto one = program("1");
  Acquire late = one.acquire();
  late.give_up = boot_now() - Millis(1'000);
  EXPECT_TRUE(refused_as_late(send_and_wait(one.backend(), late, Millis(1'000))));
  EXPECT_EQ(one.show().state, LockState::free);
  EXPECT_TRUE(one.show().jobs.empty());
}

TEST_P(StoreContract, ALateRenewOrReleaseChangesNothing) {
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  Renew renewal = one.renew(fence);
  renewal.give_up = boot_now() - Millis(1'000);
  EXPECT_TRUE(refused_as_late(send_and_wait(one.backend(), renewal, Millis(1'000))));
  Release release = one.release(fence);
  release.give_up = boot_now() - Millis(1'000);
  EXPECT_TRUE(refused_as_late(send_and_wait(one.backend(), release, Millis(1'000))));
  expect_same(before, one.show());
}

}  // namespace
}  // namespace cronlatch::testing
