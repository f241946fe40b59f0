// SPDX-License-Identifier: Apache-2.0
// Several holders at once, on every store that supports them.

#include "contract/store_contract.h"

namespace cronlatch::testing {
namespace {

Acquire with_slots(const Caller& program, unsigned slots, Millis ttl = Millis(60'000)) {
  Acquire request = program.acquire();
  request.slots = slots;
  request.ttl = ttl;
  return request;
}

Renew renew_with_slots(const Caller& program, Fence fence, unsigned slots) {
  Renew request = program.renew(fence);
  request.slots = slots;
  return request;
}

bool is_config_error(const std::optional<Reply>& reply) {
  const Unavailable* refused = reply ? std::get_if<Unavailable>(&*reply) : nullptr;
  return refused != nullptr && refused->error.code == Code::config && !refused->transient;
}

TEST_P(StoreContract, SlotsGrantAsManyAsThereAreAndNoMore) {
  ONLY_WITH_SLOTS();
  auto one = program("1"), two = program("2"), three = program("3"), four = program("4");
  const Granted first = granted(one(with_slots(one, 3)));
  const Granted second = granted(two(with_slots(two, 3)));
  const Granted third = granted(three(with_slots(three, 3)));
  EXPECT_LT(first.fence, second.fence);
  EXPECT_LT(second.fence, third.fence);
  const Busy refused = busy(four(with_slots(four, 3)));
  EXPECT_EQ(refused.holder, one.identity().holder);
  EXPECT_EQ(refused.fence, first.fence);

  const LockView view = four.show();
  EXPECT_EQ(view.state, LockState::held);
  EXPECT_EQ(view.slots, 3u);
  ASSERT_EQ(view.grants.size(), 3u);
  EXPECT_EQ(view.grants[1].identity, two.identity());
  EXPECT_EQ(view.grants[1].fence, second.fence);

  EXPECT_TRUE(is_released(two(two.release(second.fence))));
  four.claim().attempt = 2;  // the first was counted as skipped
  EXPECT_GT(granted(four(with_slots(four, 3))).fence, third.fence);
  EXPECT_TRUE(is_released(one(one.release(first.fence))));
  EXPECT_TRUE(is_released(three(three.release(third.fence))));
  EXPECT_TRUE(is_released(four(four.release(0))));
  EXPECT_EQ(one.show().slots, 1u);
  EXPECT_TRUE(one.show().grants.empty());
  expect_law(one, false);
}

TEST_P(StoreContract, SlotsAreRenewedAndTakenOverOneByOne) {
  ONLY_WITH_SLOTS();
  ONLY_LEASED();
  auto one = program("1"), two = program("2"), three = program("3"), four = program("4");
  const Granted first = granted(one(with_slots(one, 2)));
  const Granted second = granted(two(with_slots(two, 2, Millis(300))));
  EXPECT_TRUE(std::holds_alternative<Renewed>(*one(renew_with_slots(one, first.fence, 2))));
  world_->pass(Millis(400));

  EXPECT_TRUE(is_not_holder(two(renew_with_slots(two, second.fence, 2)), LostReason::expired));
  EXPECT_TRUE(granted(three(with_slots(three, 2))).stole);
  EXPECT_TRUE(is_not_holder(two(renew_with_slots(two, second.fence, 2)), LostReason::taken));
  busy(four(with_slots(four, 2)));
  EXPECT_TRUE(std::holds_alternative<Renewed>(*one(renew_with_slots(one, first.fence, 2))));
  EXPECT_EQ(one.count("stolen"), 1);
}

TEST_P(StoreContract, SlotsOfAnotherNumberAreRefusedWhileARunHolds) {
  ONLY_WITH_SLOTS();
  auto one = program("1"), two = program("2");
  granted(one(with_slots(one, 3)));
  const LockView before = two.show();
  for (const unsigned other : {1u, 2u, 4u}) {
    const auto reply = two(with_slots(two, other));
    ASSERT_TRUE(is_config_error(reply)) << other;
    const Error& error = std::get<Unavailable>(*reply).error;
    EXPECT_NE(error.message.find("slots is " + std::to_string(other)), std::string::npos);
    EXPECT_NE(error.message.find("has 3, which is held by " + one.identity().holder),
              std::string::npos);
    EXPECT_FALSE(error.hint.empty());
  }
  expect_same(before, two.show());
  EXPECT_TRUE(is_released(one(one.release(0))));
  granted(two(with_slots(two, 2)));
}

TEST_P(StoreContract, SlotsAreRevokedTogether) {
  ONLY_WITH_SLOTS();
  ONLY_LEASED();
  auto one = program("1"), two = program("2"), three = program("3");
  granted(one(with_slots(one, 2)));
  const Granted second = granted(two(with_slots(two, 2)));
  const auto revoked = three.backend().revoke(three.lock(), boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok());
  EXPECT_TRUE(revoked->was_held);
  EXPECT_EQ(revoked->fence, second.fence);
  EXPECT_EQ(one.count("revoked"), 2);
  for (Caller* holder : {&one, &two})
    EXPECT_TRUE(is_not_holder((*holder)(renew_with_slots(*holder, 0, 2)), LostReason::revoked));
  busy(three(with_slots(three, 2)));
  for (const GrantView& grant : one.show().grants) EXPECT_EQ(grant.state, LockState::revoked);
}

// A run that waits is granted the slot that is reserved for it, and no other one.
TEST_P(StoreContract, SlotsAreHandedOverInOrder) {
  ONLY_WITH_SLOTS();
  ONLY_LEASED();
  auto one = program("1"), two = program("2"), three = program("3"), four = program("4");
  granted(one(with_slots(one, 2)));
  granted(two(with_slots(two, 2)));
  const auto wait = [&](Caller& waiter) {
    Acquire request = with_slots(waiter, 2);
    request.if_busy = IfBusy::wait;
    return waiter(request);
  };
  EXPECT_EQ(busy(wait(three)).ahead, 0u);
  EXPECT_EQ(busy(wait(four)).ahead, 1u);
  EXPECT_EQ(std::get<Released>(*two(two.release(0))).wake, "3");
  EXPECT_EQ(busy(wait(four)).reason, BusyReason::queued);
  granted(wait(three));
  EXPECT_EQ(std::get<Released>(*one(one.release(0))).wake, "4");
  granted(wait(four));
}

// K2: otherwise two runs could do the work of one identity at the same time.
TEST_P(StoreContract, SlotsExcludeASecondRunOfAnIdentity) {
  ONLY_WITH_SLOTS();
  auto one = program("1"), two = program("2"), three = program("3");
  const auto with_identity = [](const Caller& program, const std::string& once) {
    Acquire request = with_slots(program, 3);
    request.identity.once = once;
    request.once_ttl = Millis(3'600'000);
    return request;
  };
  const Granted first = granted(one(with_identity(one, "monday")));
  const Busy refused = busy(two(with_identity(two, "monday")));
  EXPECT_EQ(refused.reason, BusyReason::held);
  EXPECT_EQ(refused.holder, one.identity().holder);
  EXPECT_EQ(refused.fence, first.fence);
  granted(three(with_identity(three, "tuesday")));

  Release failed = one.release(first.fence, RunVerdict::failed);
  failed.identity.once = "monday";
  EXPECT_TRUE(is_released(one(failed)));
  two.claim().attempt = 2;  // the first was counted as skipped
  granted(two(with_identity(two, "monday")));
}

// A run that waits has at most one reservation.
TEST_P(StoreContract, SlotsAreReservedForDifferentRuns) {
  ONLY_WITH_SLOTS();
  ONLY_LEASED();
  auto one = program("1"), two = program("2"), three = program("3"), four = program("4");
  granted(one(with_slots(one, 2)));
  granted(two(with_slots(two, 2)));
  for (Caller* waiter : {&three, &four}) {
    Acquire request = with_slots(*waiter, 2);
    request.if_busy = IfBusy::wait;
    busy((*waiter)(request));
  }
  EXPECT_EQ(std::get<Released>(*one(one.release(0))).wake, "3");
  EXPECT_EQ(std::get<Released>(*two(two.release(0))).wake, "4");
}

// All requests are sent before the first reply is read.
TEST_P(StoreContract, SlotsAreNeverExceededByManyStarters) {
  ONLY_WITH_SLOTS();
  constexpr std::size_t kSlots = 5;
  std::vector<std::unique_ptr<Caller>> starters, holders;
  std::vector<std::optional<Reply>> replies;
  for (std::size_t i = 0; i < world_->most_programs(); ++i) {
    starters.push_back(std::make_unique<Caller>(*world_, "shop/report", "s" + std::to_string(i)));
    starters.back()->backend().send(with_slots(*starters.back(), kSlots), boot_now());
    replies.push_back(starters.back()->backend().step(PollSet{}, boot_now()));
  }
  for (std::size_t i = 0; i < starters.size(); ++i) {
    const TimePoint limit = boot_now() + kPatience;
    std::optional<Reply>& reply = replies[i];
    while (!reply && boot_now() < limit) reply = wait_and_step(starters[i]->backend(), limit);
    if (reply && std::holds_alternative<Granted>(*reply))
      holders.push_back(std::move(starters[i]));
    else
      busy(reply);
  }
  ASSERT_EQ(holders.size(), kSlots);
  const LockView view = holders.front()->show();
  EXPECT_EQ(view.grants.size(), kSlots);
  for (auto& holder : holders) EXPECT_TRUE(is_released((*holder)(holder->release(0))));
  EXPECT_EQ(holders.front()->count("acquired"), 5);
  expect_law(*holders.front(), false);
}

TEST_P(StoreContract, SlotsAreListedWithTheirGrants) {
  ONLY_WITH_SLOTS();
  auto one = program("1"), two = program("2");
  granted(one(with_slots(one, 4)));
  granted(two(with_slots(two, 4)));
  const auto listed = one.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().slots, 4u);
  EXPECT_EQ(listed->front().grants.size(), 2u);
}

}  // namespace
}  // namespace cronlatch::testing
