// SPDX-License-Identifier: Apache-2.0
// The contract of every store: renewals and the end of a lease.
#include <gmock/gmock.h>

#include <map>

#include "contract/store_contract.h"

namespace cronlatch::testing {
namespace {

// ---- renew ----

TEST_P(StoreContract, RenewByTheHolderSucceeds) {
  auto one = program("1");
  const Granted got = granted(one(one.acquire()));
  const LockView before = one.show();
  world_->pass(Millis(20));
  const TimePoint sent_at = boot_now();
  const auto reply = one(one.renew(got.fence));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_GE(std::get<Renewed>(*reply).sent_at, sent_at);
  EXPECT_FALSE(std::get<Renewed>(*reply).restored);
  const LockView after = one.show();
  EXPECT_EQ(after.fence, got.fence);
  EXPECT_EQ(after.acquired, before.acquired);
  EXPECT_TRUE(!world_->leased() || after.expires - before.expires >= Millis(20));
}

TEST_P(StoreContract, RenewByAnotherChangesNothing) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  EXPECT_TRUE(is_not_holder(two(two.renew(fence)), LostReason::taken));
  expect_same(before, one.show());
}

TEST_P(StoreContract, RenewAfterReleaseIsNotHolder) {
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  one(one.release(fence));
  const auto reply = one(one.renew(fence));
  ASSERT_TRUE(reply && std::holds_alternative<NotHolder>(*reply));
  EXPECT_EQ(one.show().state, LockState::free);
}

TEST_P(StoreContract, RenewDoesNotShortenALease) {
  ONLY_LEASED();
  auto one = program("1");
  const Fence fence = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  Renew shorter = one.renew(fence);
  shorter.ttl = Millis(5'000);
  one(shorter);
  EXPECT_EQ(one.show().expires, before.expires);
}

TEST_P(StoreContract, RenewRestoresARecordTheStoreLost) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  const Fence fence = 1'700'000'000'000'000;
  const auto reply = one(one.renew(fence));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_TRUE(std::get<Renewed>(*reply).restored);
  EXPECT_EQ(one.show().fence, fence);
  EXPECT_EQ(one.count("restored"), 1);
  expect_law(one, true);
  EXPECT_EQ(busy(two(two.acquire())).fence, fence);
}

TEST_P(StoreContract, RenewOfALostRecordIsGoneWithoutALease) {
  if (world_->leased()) GTEST_SKIP() << "a store with leases restores it";
  auto one = program("1");
  EXPECT_TRUE(is_not_holder(one(one.renew(1'700'000'000'000'000)), LostReason::gone));
  EXPECT_EQ(one.show().state, LockState::free);
}

TEST_P(StoreContract, RenewRestoresAGrantOverAnOlderRecordThatNoRunHolds) {
  ONLY_LEASED();
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  const Fence older = granted(one(one.acquire())).fence;
  one(one.release(older));
  const auto reply = two(two.renew(older + 1));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_TRUE(std::get<Renewed>(*reply).restored);
  EXPECT_EQ(two.show().fence, older + 1);
  EXPECT_EQ(two.show().identity, two.identity());
  expect_law(two, true);
}

TEST_P(StoreContract, RenewOverAnExpiredOlderRecordCountsItAsStolen) {
  ONLY_LEASED();
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  Acquire request = one.acquire();
  request.ttl = Millis(150);
  const Fence older = granted(one(request)).fence;
  world_->pass(Millis(200));
  const auto reply = two(two.renew(older + 1));
  ASSERT_TRUE(reply && std::holds_alternative<Renewed>(*reply));
  EXPECT_EQ(two.show().jobs["shop/one"].get("stolen"), 1);
  expect_law(two, true);
}

TEST_P(StoreContract, RenewAndReleaseOverAHeldOlderRecordAreGone) {
  auto one = program("1"), two = program("2");
  const Fence older = granted(one(one.acquire())).fence;
  const LockView before = one.show();
  EXPECT_TRUE(is_not_holder(two(two.renew(older + 1)), LostReason::gone));
  expect_same(before, one.show());
  EXPECT_TRUE(is_not_holder(two(two.release(older + 1, RunVerdict::lost)), LostReason::gone));
  EXPECT_EQ(one.show().fence, older);
  EXPECT_EQ(one.show().identity, one.identity());
}

TEST_P(StoreContract, RenewOverAnOlderRecordIsGoneWithoutTheKernelLock) {
  if (world_->leased()) GTEST_SKIP() << "a store with leases restores it";
  auto one = program("1"), two = program("2");
  const Fence older = granted(one(one.acquire())).fence;
  one(one.release(older));
  const LockView before = one.show();
  EXPECT_TRUE(is_not_holder(two(two.renew(older + 1)), LostReason::gone));
  expect_same(before, one.show());
}

// ---- leases ----

TEST_P(StoreContract, AnExpiredLeaseIsTakenOverAndCountedOnce) {
  ONLY_LEASED();
  auto one = program("1", "shop/one"), two = program("2", "shop/two");
  Acquire request = one.acquire();
  request.ttl = Millis(150);
  const Granted first = granted(one(request));
  world_->pass(Millis(200));
  EXPECT_EQ(one.show().state, LockState::expired);

  const Granted second = granted(two(two.acquire()));
  EXPECT_TRUE(second.stole);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_TRUE(granted(two(two.acquire())).stole) << "the same request has the same answer";
  EXPECT_EQ(two.show().jobs["shop/one"].get("stolen"), 1);
  EXPECT_EQ(two.show().jobs["shop/two"].get("stolen"), 0);
  expect_law(two, true);
  EXPECT_TRUE(closed(one(one.acquire())));
  EXPECT_TRUE(is_not_holder(one(one.renew(first.fence)), LostReason::taken));
}

TEST_P(StoreContract, AnExpiredLeaseIsNotRenewed) {
  ONLY_LEASED();
  auto one = program("1");
  Acquire request = one.acquire();
  request.ttl = Millis(150);
  const Fence fence = granted(one(request)).fence;
  world_->pass(Millis(200));
  EXPECT_TRUE(is_not_holder(one(one.renew(fence)), LostReason::expired));
  EXPECT_TRUE(is_released(one(one.release(fence, RunVerdict::lost)))) << "no run took it over";
  EXPECT_EQ(one.count("stolen"), 0);
  expect_law(one, false);
}

TEST_P(StoreContract, RenewalsKeepALeaseBeyondItsFirstEnd) {
  ONLY_LEASED();
  auto one = program("1"), two = program("2");
  Acquire request = one.acquire();
  request.ttl = Millis(400);
  const Fence fence = granted(one(request)).fence;
  for (int i = 0; i < 3; ++i) {
    world_->pass(Millis(200));
    Renew renewal = one.renew(fence);
    renewal.ttl = Millis(400);
    ASSERT_TRUE(std::holds_alternative<Renewed>(one(renewal).value()));
  }
  busy(two(two.acquire()));
}

}  // namespace
}  // namespace cronlatch::testing
