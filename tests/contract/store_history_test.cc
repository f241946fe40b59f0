// SPDX-License-Identifier: Apache-2.0
// The contract of every store: min-hold, run identities, attempt groups.
#include <gmock/gmock.h>

#include <map>

#include "contract/store_contract.h"

namespace cronlatch::testing {
namespace {

// ---- min-hold ----

TEST_P(StoreContract, MinHoldKeepsAReleasedLockClosed) {
  auto one = program("1"), two = program("2");
  const Fence fence = granted(one(one.acquire())).fence;
  two.show();  // connects, so that min-hold does not end before the request
  Release release = one.release(fence);
  release.min_hold = Millis(1000);
  EXPECT_TRUE(is_released(one(release)));
  expect_law(one, false);

  Acquire wait = two.acquire();
  wait.if_busy = IfBusy::wait;
  const Busy refused = busy(two(wait));
  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_GT(refused.remaining, Micros(0));
  EXPECT_LE(refused.remaining, Millis(1000));
  EXPECT_EQ(two.show().state, LockState::cooling);
  world_->pass(Millis(1050));
  EXPECT_EQ(two.show().state, LockState::free);
  EXPECT_FALSE(granted(two(two.acquire())).stole);
}

TEST_P(StoreContract, MinHoldIsIgnoredByTheSameGroup) {
  auto one = program("1"), two = program("2"), three = program("3");
  one.identity().group = two.identity().group = "job-uid";
  Release release = one.release(granted(one(one.acquire())).fence, RunVerdict::failed);
  release.min_hold = Millis(60'000);
  one(release);
  EXPECT_EQ(busy(three(three.acquire())).reason, BusyReason::cooling);
  granted(two(two.acquire()));
}

TEST_P(StoreContract, MinHoldIsOverWhenItHasPassedBeforeTheRelease) {
  auto one = program("1"), two = program("2");
  Release release = one.release(granted(one(one.acquire())).fence);
  world_->pass(Millis(150));
  release.min_hold = Millis(100);
  one(release);
  granted(two(two.acquire()));
}

TEST_P(StoreContract, MinHoldDoesNotApplyToAGrantGivenBack) {
  auto one = program("1"), two = program("2");
  Release release = one.release(granted(one(one.acquire())).fence, RunVerdict::given_back);
  release.min_hold = Millis(60'000);
  one(release);
  granted(two(two.acquire()));
}

TEST_P(StoreContract, MinHoldKeepsALockClosedAfterACrash) {
  auto two = program("2", "shop/two");
  Fence crashed = 0;
  {
    auto one = program("1", "shop/one");
    Acquire request = one.acquire();
    request.ttl = Millis(100);
    request.min_hold = Millis(600);
    crashed = granted(one(request)).fence;
  }
  if (world_->leased()) world_->pass(Millis(150));
  Acquire wait = two.acquire();
  wait.if_busy = IfBusy::wait;
  const Busy refused = busy(two(wait));
  EXPECT_EQ(refused.reason, BusyReason::cooling);
  EXPECT_EQ(refused.fence, crashed);
  EXPECT_GT(refused.remaining, Micros(0));
  EXPECT_LE(refused.remaining, Millis(600));
  EXPECT_EQ(two.show().state, LockState::expired);
  EXPECT_TRUE(two.show().open());
  expect_law(two, true);
  world_->pass(Millis(650));
  EXPECT_TRUE(granted(two(wait)).stole);
  EXPECT_EQ(two.show().jobs["shop/one"].get("stolen"), 1);
  expect_law(two, true);
}

TEST_P(StoreContract, RevokingEndsAMinHold) {
  auto one = program("1"), two = program("2");
  Release release = one.release(granted(one(one.acquire())).fence);
  release.min_hold = Millis(60'000);
  one(release);
  busy(two(two.acquire()));
  const auto ended = one.backend().revoke(one.lock(), boot_now() + kPatience);
  ASSERT_TRUE(ended.ok());
  EXPECT_TRUE(ended->was_cooling);
  EXPECT_FALSE(ended->was_held);
  EXPECT_EQ(ended->holder, one.identity().holder);
  EXPECT_GT(ended->remaining, Millis(30'000));
  EXPECT_LE(ended->remaining, Millis(60'000));
  EXPECT_EQ(one.show().state, LockState::free);
  EXPECT_EQ(one.count("revoked"), 0);
  EXPECT_FALSE(one.backend().revoke(one.lock(), boot_now() + kPatience)->was_cooling);
  ++two.claim().attempt;
  granted(two(two.acquire()));
}

TEST_P(StoreContract, RevokingEndsTheMinHoldOfACrashedRunAndClosesItsGrant) {
  auto two = program("2", "shop/two");
  {
    auto one = program("1", "shop/one");
    Acquire request = one.acquire();
    request.ttl = Millis(100);
    request.min_hold = Millis(60'000);
    granted(one(request));
  }
  if (world_->leased()) world_->pass(Millis(150));
  const auto ended = two.backend().revoke(two.lock(), boot_now() + kPatience);
  ASSERT_TRUE(ended.ok());
  EXPECT_TRUE(ended->was_cooling);
  EXPECT_EQ(two.show().state, LockState::free);
  EXPECT_EQ(two.show().jobs["shop/one"].get("revoked"), 1);
  expect_law(two, false);
  EXPECT_FALSE(granted(two(two.acquire())).stole);
  expect_law(two, true);
}

// ---- run identities ----

TEST_P(StoreContract, AFinishedIdentityIsDoneForEveryRunOfItsJob) {
  auto one = program("1"), two = program("2"), other = program("3", "shop/other");
  one.identity().once = two.identity().once = other.identity().once = "tick-1";
  one(one.release(granted(one(one.acquire())).fence));

  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::done);
  EXPECT_EQ(two.show().jobs["shop/report"].get("skipped_done"), 1);
  granted(other(other.acquire()));
}

TEST_P(StoreContract, ADoneIdentityIsDoneAlsoWhileTheLockIsHeld) {
  auto one = program("1"), two = program("2"), holder = program("3");
  one.identity().once = two.identity().once = "tick-1";
  one(one.release(granted(one(one.acquire())).fence));
  granted(holder(holder.acquire()));
  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::done);
}

TEST_P(StoreContract, OnlySuccessFinishesAnIdentity) {
  auto one = program("1");
  one.identity().once = "tick-1";
  for (const RunVerdict verdict : {RunVerdict::failed, RunVerdict::timed_out, RunVerdict::lost,
                                   RunVerdict::cannot_start, RunVerdict::given_back}) {
    one(one.release(granted(one(one.acquire())).fence, verdict));
    ++one.claim().attempt;
  }
  granted(one(one.acquire()));
}

TEST_P(StoreContract, AFinishedIdentityIsRemovedAfterOnceTtl) {
  auto one = program("1"), two = program("2");
  one.identity().once = two.identity().once = "tick-1";
  Release release = one.release(granted(one(one.acquire())).fence);
  release.once_ttl = Millis(200);
  one(release);
  world_->pass(Millis(250));
  Acquire request = two.acquire();
  request.once_ttl = Millis(200);
  granted(two(request));
}

TEST_P(StoreContract, AMarkIsWrittenInEveryStateOfTheLease) {
  auto one = program("1"), two = program("2"), three = program("3");
  one.identity().once = three.identity().once = "tick-1";
  const Fence fence = granted(one(one.acquire())).fence;
  one(one.release(fence, RunVerdict::failed));
  const Fence newer = granted(two(two.acquire())).fence;
  Release repeated = one.release(fence, RunVerdict::lost);
  repeated.mark_done = true;
  EXPECT_TRUE(is_released(one(repeated)));
  EXPECT_EQ(busy(three(three.acquire())).reason, BusyReason::done);

  auto outsider = program("4");
  outsider.identity().once = three.identity().once = "tick-2";
  Release lost = outsider.release(newer - 1, RunVerdict::lost);
  lost.mark_done = true;
  EXPECT_TRUE(is_not_holder(outsider(lost), LostReason::taken));
  ++three.claim().attempt;
  EXPECT_EQ(busy(three(three.acquire())).reason, BusyReason::done);
  EXPECT_EQ(two.show().state, LockState::held);
}

// Its request arrives once more, delayed on its way: the holder has received the grant.
TEST_P(StoreContract, AGrantOfARunWhoseIdentityIsDoneMeanwhileStays) {
  auto one = program("1"), two = program("2"), three = program("3");
  one.identity().once = two.identity().once = "tick-1";
  const Fence fence = granted(one(one.acquire())).fence;
  Release former = two.release(fence - 1, RunVerdict::lost);
  former.mark_done = true;
  two(former);
  EXPECT_TRUE(closed(one(one.acquire())));
  EXPECT_EQ(busy(three(three.acquire())).reason, BusyReason::held);

  // A caller that never received the grant sends another attempt.
  ++one.claim().attempt;
  EXPECT_EQ(busy(one(one.acquire())).reason, BusyReason::done);
  --one.claim().attempt;
  EXPECT_EQ(one.show().state, LockState::held);
  expect_law(one, true);
  EXPECT_TRUE(is_released(one(one.release(fence))));
}

TEST_P(StoreContract, AnUngatedRunMarksItsIdentityThoughTheLockWasNeverGranted) {
  auto one = program("1"), two = program("2");
  one.identity().once = two.identity().once = "tick-1";
  Release ungated = one.release(0, RunVerdict::ungated);
  ungated.mark_done = true;
  one(ungated);
  EXPECT_EQ(busy(two(two.acquire())).reason, BusyReason::done);
}

// ---- attempt groups ----

TEST_P(StoreContract, AGroupGrantedBeforeIsReportedAndNotCountedAsSkipped) {
  auto one = program("1"), holder = program("2"), retry = program("3"), stranger = program("4");
  one.identity().group = retry.identity().group = "job-uid";
  stranger.identity().group = "other-uid";
  one(one.release(granted(one(one.acquire())).fence, RunVerdict::failed));
  granted(holder(holder.acquire()));

  EXPECT_TRUE(busy(retry(retry.acquire())).group_granted);
  EXPECT_EQ(retry.count("skipped_held"), 0);
  EXPECT_FALSE(busy(stranger(stranger.acquire())).group_granted);
  EXPECT_EQ(retry.count("skipped_held"), 1);
}

TEST_P(StoreContract, ACountedBusyIsRepeatedWithItsGroupFlag) {
  auto one = program("1"), holder = program("2"), retry = program("3");
  one.identity().group = retry.identity().group = "job-uid";
  one(one.release(granted(one(one.acquire())).fence, RunVerdict::failed));
  granted(holder(holder.acquire()));
  Acquire last = retry.acquire();
  last.if_busy = IfBusy::timed_out;
  EXPECT_TRUE(busy(retry(last)).group_granted);
  EXPECT_TRUE(busy(retry(last)).group_granted);
  EXPECT_EQ(retry.count("runs_busy"), 1);
}

TEST_P(StoreContract, AGroupThatRanWithoutALockIsRecordedAsGranted) {
  auto one = program("1"), holder = program("2"), retry = program("3");
  one.identity().group = retry.identity().group = "job-uid";
  one(one.release(0, RunVerdict::ungated));
  granted(holder(holder.acquire()));
  EXPECT_TRUE(busy(retry(retry.acquire())).group_granted);
}

}  // namespace
}  // namespace cronlatch::testing
