// SPDX-License-Identifier: Apache-2.0
// Programs that wait for a lock on a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/contract.h"
#include "store/open.h"
#include "support/eventually.h"
#include "support/postgres_server.h"

namespace cronlatch::testing {
namespace {

StoreSpec with_prefix(StoreSpec spec) {
  static int prefixes = 0;
  spec.key_prefix = "queue-" + std::to_string(++prefixes) + ":";
  return spec;
}

// A program that waits, as a run does.
class Waiter {
 public:
  Waiter(const StoreSpec& spec, std::string owner)
      : store_(std::move(open_store(spec)).value()), owner_(std::move(owner)) {}

  Reply wait(IfBusy if_busy = IfBusy::wait) {
    Acquire request;
    request.lock = "shop/report";
    request.claim = {owner_, 1};
    request.identity = {"host-" + owner_, "shop/job", "", ""};
    request.ttl = Millis(60'000);
    request.if_busy = if_busy;
    request.give_up = boot_now() + kPatience;
    return sent(request);
  }
  bool is_granted() { return std::holds_alternative<Granted>(wait()); }
  // How many programs wait before this one; -1: it has no place.
  int place() {
    const Reply reply = wait();
    const Busy* busy = std::get_if<Busy>(&reply);
    return busy != nullptr && busy->ahead ? static_cast<int>(*busy->ahead) : -1;
  }
  Reply release(RunVerdict verdict = RunVerdict::succeeded) {
    Release request;
    request.lock = "shop/report";
    request.claim = {owner_, 1};
    request.verdict = verdict;
    request.give_up = boot_now() + kPatience;
    return sent(request);
  }
  Backend& store() { return *store_; }

 private:
  Reply sent(const Request& request) {
    return send_and_wait(*store_, request).value_or(Reply(Unavailable{{Code::bug, "no answer"}}));
  }
  std::unique_ptr<Backend> store_;
  std::string owner_;
};

PostgresServer& server() { return PostgresServer::shared(); }

// A lock with a holder.
class PostgresQueue : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(holder_.is_granted()); }
  std::unique_ptr<Waiter> waiter(const std::string& owner) {
    auto created = std::make_unique<Waiter>(spec_, owner);
    EXPECT_GE(created->place(), 0);
    return created;
  }
  void release() { EXPECT_TRUE(std::holds_alternative<Released>(holder_.release())); }

  const StoreSpec spec_ = with_prefix(server().spec());
  Waiter holder_{spec_, "a000"};
};

TEST_F(PostgresQueue, ProgramsAreGrantedTheLockInTheOrderOfTheirFirstRequests) {
  auto first = waiter("c000"), second = waiter("b000");
  EXPECT_EQ(first->place(), 0);
  EXPECT_EQ(second->place(), 1);
  release();
  EXPECT_FALSE(second->is_granted());
  Waiter newcomer(spec_, "d000");
  const Reply skipped = newcomer.wait(IfBusy::skip);
  ASSERT_TRUE(std::holds_alternative<Busy>(skipped));
  EXPECT_EQ(std::get<Busy>(skipped).reason, BusyReason::queued);
  EXPECT_TRUE(first->is_granted());
  EXPECT_EQ(second->place(), 0);
}

TEST_F(PostgresQueue, AReservationLapsesWhenTheFirstProgramDoesNotAnswer) {
  auto dead = waiter("b000"), next = waiter("c000");
  dead.reset();
  release();
  EXPECT_FALSE(next->is_granted());
  EXPECT_TRUE(eventually([&] { return next->is_granted(); }, std::chrono::seconds(5)));
}

TEST_F(PostgresQueue, LockStatsContainTheNumberOfProgramsThatWait) {
  const auto waiters = [&] {
    return holder_.store().show("shop/report", boot_now() + kPatience)->waiters;
  };
  EXPECT_EQ(waiters(), 0);
  auto first = waiter("b000"), second = waiter("c000");
  EXPECT_EQ(waiters(), 2);
  const auto listed = holder_.store().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->at(0).waiters, 2);
  release();
  EXPECT_TRUE(first->is_granted());
  EXPECT_EQ(waiters(), 1);
}

}  // namespace
}  // namespace cronlatch::testing
