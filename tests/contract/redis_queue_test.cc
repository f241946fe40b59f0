// SPDX-License-Identifier: Apache-2.0
// Programs that wait for a lock on a real server: their wake-up, and what it costs.
#include "contract/redis_support.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

constexpr Millis kListen{1'500};
// Below this, the program was woken and did not wait for the end of its pause.
constexpr Millis kAtOnce{700};

// A program that waits, as a run does.
struct Waiter : RedisProgram {
  using RedisProgram::RedisProgram;
  Reply wait() {
    Acquire request = program.acquire();
    request.if_busy = IfBusy::wait;
    const auto reply = (*this)(request);
    return reply ? *reply : Reply(Unavailable{});
  }
  bool has_place() { return std::get<Busy>(wait()).ahead.has_value(); }
  void listen() {
    program.backend().listen(program.lock(), program.claim().owner, boot_now() + kListen);
  }
  bool is_woken_within(Millis limit) {
    const TimePoint ends = boot_now() + limit;
    while (boot_now() < ends) {
      wait_and_step(program.backend(), ends);
      if (program.backend().take_wake()) return true;
    }
    return false;
  }
};

// A lock with a holder, on a server of its own.
struct BusyLock {
  BusyLock() : holder(spec(), "a000") {
    const auto reply = holder(holder.program.acquire());
    if (granted_in(reply) != nullptr) fence = granted_in(reply)->fence;
  }
  StoreSpec spec() const { return spec_of(plain_url(*server)); }
  std::unique_ptr<Waiter> waiter(const std::string& owner) const {
    auto created = std::make_unique<Waiter>(spec(), owner);
    EXPECT_TRUE(created->has_place());
    return created;
  }
  void release() {
    const auto reply = holder(holder.program.release(fence));
    EXPECT_TRUE(reply && std::holds_alternative<Released>(*reply)) << reply_text(reply);
  }
  // The commands of one hand-off with that many programs that wait.
  std::map<std::string, int> cost_of_hand_off(int waiters) {
    std::vector<std::unique_ptr<Waiter>> all;
    for (int i = 0; i < waiters; ++i) all.push_back(waiter("b" + std::to_string(1000 + i)));
    EXPECT_TRUE(all[0]->has_place());
    redis_command(server->port(), {"CONFIG", "RESETSTAT"});
    all[0]->listen();
    release();
    EXPECT_TRUE(all[0]->is_woken_within(kAtOnce));
    EXPECT_TRUE(std::holds_alternative<Granted>(all[0]->wait()));
    return calls(*server);
  }

  std::unique_ptr<RedisServer> server = RedisServer::start();
  RedisProgram holder;
  Fence fence = 0;
};

class RedisQueue : public ::testing::Test {
 protected:
  std::unique_ptr<Waiter> waiter(const std::string& owner) const { return lock.waiter(owner); }
  RedisAnswer command(const std::vector<std::string>& words) const {
    return redis_command(lock.server->port(), words);
  }
  BusyLock lock;
};

TEST_F(RedisQueue, R5AReleaseWakesTheFirstProgramAndNoOther) {
  auto first = waiter("b000"), second = waiter("c000");
  first->listen();
  second->listen();
  lock.release();
  EXPECT_TRUE(first->is_woken_within(kAtOnce));
  EXPECT_FALSE(second->is_woken_within(Millis(100)));
  EXPECT_TRUE(std::holds_alternative<Granted>(first->wait()));
}

TEST_F(RedisQueue, Q7AProgramThatLeavesWakesTheNext) {
  auto first = waiter("b000"), second = waiter("c000");
  second->listen();
  lock.release();
  const auto left = (*first)(first->program.release(0, RunVerdict::given_back));
  EXPECT_TRUE(left && std::holds_alternative<NotHolder>(*left)) << reply_text(left);
  EXPECT_TRUE(second->is_woken_within(kAtOnce));
  EXPECT_TRUE(std::holds_alternative<Granted>(second->wait()));
}

TEST_F(RedisQueue, AHandOffCostsTheSameWithEachNumberOfPrograms) {
  const auto with_one = lock.cost_of_hand_off(1);
  EXPECT_EQ(with_one.at("rpush"), 1);
  EXPECT_EQ(with_one.at("blpop"), 1);
  BusyLock other;
  EXPECT_EQ(other.cost_of_hand_off(is_long_run() ? 500 : 40), with_one);
}

TEST_F(RedisQueue, LockStatsContainTheNumberOfProgramsThatWait) {
  EXPECT_EQ(lock.holder.program.show().waiters, 0);
  const auto first = waiter("b000"), second = waiter("c000");
  EXPECT_EQ(first->program.show().waiters, 2);
  const auto listed = lock.holder.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->at(0).waiters, 2);
  lock.release();
  EXPECT_TRUE(std::holds_alternative<Granted>(first->wait()));
  EXPECT_EQ(first->program.show().waiters, 1);
}

TEST_F(RedisQueue, ARequestDoesNotWaitForTheEndOfTheListening) {
  auto first = waiter("b000");
  first->listen();
  const TimePoint began = boot_now();
  EXPECT_TRUE(first->has_place());
  EXPECT_LT(boot_now() - began, kAtOnce);
}

TEST_F(RedisQueue, TheListeningEndsBeforeTheNextRequest) {
  auto first = waiter("b000");
  command({"CONFIG", "RESETSTAT"});
  first->program.backend().listen("shop/report", "b000", boot_now() + Millis(600));
  EXPECT_FALSE(first->is_woken_within(Millis(600)));
  EXPECT_TRUE(first->has_place());
  EXPECT_EQ(calls(*lock.server)["hello"], 0) << "it used a new connection";
}

TEST_F(RedisQueue, AWakeUpThatIsNotReadExpires) {
  auto first = waiter("b000");
  lock.release();
  wait_until([&] { return command({"EXISTS", "cronlatch:{shop/report}:wake:b000"}).integer == 1; });
  const auto left = command({"PTTL", "cronlatch:{shop/report}:wake:b000"});
  EXPECT_GT(left.integer, 0);
  EXPECT_LE(left.integer, 5'000);
}

TEST_F(RedisQueue, WithoutTheRightToWakeProgramsWaitInOrder) {
  command({"ACL", "SETUSER", "default", "-rpush", "-blpop"});
  auto first = waiter("b000"), second = waiter("c000");
  first->listen();
  EXPECT_FALSE(first->is_woken_within(Millis(100)));
  lock.release();
  EXPECT_TRUE(std::holds_alternative<Busy>(second->wait()));
  EXPECT_TRUE(std::holds_alternative<Granted>(first->wait()));
}

}  // namespace
}  // namespace cronlatch::testing
