// SPDX-License-Identifier: Apache-2.0
// The contract of every store that keeps an order of the runs that wait (Q1 to Q7, R5): the same
// tests for one Redis, Sentinel, Cluster, PostgreSQL and memory. The file store and a quorum keep
// none.
#include "contract/store_contract.h"

namespace cronlatch::testing {
namespace {

constexpr Millis kListen{1'500};
// Below this, the program was woken and did not wait for the end of its pause.
constexpr Millis kAtOnce{700};
constexpr Millis kReservation{2'100};

#define ONLY_ORDERED() \
  if (!world_->ordered()) GTEST_SKIP() << "needs a store that keeps an order"

// How many programs wait before this one; -1: it has no place.
int place(Caller& program) {
  Acquire request = program.acquire();
  request.if_busy = IfBusy::wait;
  const auto reply = program(request);
  const Busy* busy = reply ? std::get_if<Busy>(&*reply) : nullptr;
  return busy != nullptr && busy->ahead ? static_cast<int>(*busy->ahead) : -1;
}

bool enters(Caller& program) {
  Acquire request = program.acquire();
  request.if_busy = IfBusy::wait;
  const auto reply = program(request);
  return reply && std::holds_alternative<Granted>(*reply);
}

std::string woken_by(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Released>(*reply)) return std::get<Released>(*reply).wake;
  if (reply && std::holds_alternative<NotHolder>(*reply)) return std::get<NotHolder>(*reply).wake;
  return "no such reply";
}

void listen(Caller& program) {
  program.backend().listen(program.lock(), program.claim().owner, boot_now() + kListen);
}

bool is_woken_within(Caller& program, Millis limit) {
  for (const TimePoint ends = boot_now() + limit; boot_now() < ends;) {
    wait_and_step(program.backend(), ends);
    if (program.backend().take_wake()) return true;
  }
  return false;
}

TEST_P(StoreContract, Q2WaitingProgramsAreGrantedInTheOrderOfTheirFirstRequests) {
  ONLY_ORDERED();
  auto holder = program("a000"), first = program("c000"), second = program("b000");
  const Fence fence = granted(holder(holder.acquire())).fence;
  EXPECT_EQ(place(first), 0);
  EXPECT_EQ(place(second), 1);
  EXPECT_EQ(place(first), 0);
  EXPECT_EQ(holder.show().waiters, 2);
  EXPECT_EQ(woken_by(holder(holder.release(fence))), "c000");
  EXPECT_FALSE(enters(second));
  // A newcomer overtakes nobody.
  auto newcomer = program("d000");
  EXPECT_EQ(busy(newcomer(newcomer.acquire())).reason, BusyReason::queued);
  EXPECT_TRUE(enters(first));
  EXPECT_EQ(place(second), 0);
}

TEST_P(StoreContract, Q7AProgramThatLeavesPassesItsReservationOn) {
  ONLY_ORDERED();
  auto holder = program("a000"), first = program("b000"), second = program("c000");
  const Fence fence = granted(holder(holder.acquire())).fence;
  EXPECT_EQ(place(first), 0);
  EXPECT_EQ(place(second), 1);
  EXPECT_EQ(woken_by(holder(holder.release(fence))), "b000");
  EXPECT_EQ(woken_by(first(first.release(0, RunVerdict::given_back))), "c000");
  EXPECT_TRUE(enters(second));
}

TEST_P(StoreContract, Q2AReservationEndsWhenItsProgramDoesNotAnswer) {
  ONLY_ORDERED();
  auto holder = program("a000"), dead = program("b000"), next = program("c000");
  const Fence fence = granted(holder(holder.acquire())).fence;
  EXPECT_EQ(place(dead), 0);
  EXPECT_EQ(place(next), 1);
  holder(holder.release(fence));
  EXPECT_FALSE(enters(next));
  world_->pass(kReservation);
  EXPECT_TRUE(enters(next));
}

TEST_P(StoreContract, R5AReleaseWakesTheFirstProgramAndNoOther) {
  ONLY_ORDERED();
  if (!world_->wakes()) GTEST_SKIP() << "needs a store that wakes programs";
  auto holder = program("a000"), first = program("b000"), second = program("c000");
  const Fence fence = granted(holder(holder.acquire())).fence;
  EXPECT_EQ(place(first), 0);
  EXPECT_EQ(place(second), 1);
  listen(first);
  listen(second);
  EXPECT_FALSE(is_woken_within(first, Millis(300)));  // the server has both requests
  holder(holder.release(fence));
  EXPECT_TRUE(is_woken_within(first, kAtOnce));
  EXPECT_FALSE(is_woken_within(second, Millis(100)));
  EXPECT_TRUE(enters(first));
}

}  // namespace
}  // namespace cronlatch::testing
