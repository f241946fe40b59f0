// SPDX-License-Identifier: Apache-2.0
// Programs that wait for a lock on a real server: their wake-up by NOTIFY, what it costs, and what
// happens without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/contract.h"
#include "pooler.h"
#include "store/open.h"
#include "store/postgres/verb_codec.h"
#include "support/eventually.h"
#include "support/long_tests.h"
#include "support/postgres_server.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Millis kListen{1'500};
// Below this, the program was woken and did not wait for the end of its pause.
constexpr Millis kAtOnce{700};
constexpr Millis kNoWake{100};

StoreSpec with_prefix(StoreSpec spec) {
  static int prefixes = 0;
  spec.key_prefix = "queue-" + std::to_string(++prefixes) + ":";
  return spec;
}

StoreSpec with_options(StoreSpec spec, const std::string& options) {
  spec.url += options;
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
  void listen() { store_->listen("shop/report", owner_, boot_now() + kListen); }
  bool is_woken_within(Millis limit) {
    for (const TimePoint ends = boot_now() + limit; boot_now() < ends;) {
      wait_and_step(*store_, ends);
      if (store_->take_wake()) return true;
    }
    return false;
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
  // Sessions that listen: their last statement begins with LISTEN.
  static std::string listeners() {
    return server().value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
  }

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

// ---- the wake-up ----

TEST_F(PostgresQueue, R5AReleaseWakesTheFirstProgramAndNoOther) {
  auto first = waiter("b000"), second = waiter("c000");
  first->listen();
  second->listen();
  EXPECT_TRUE(eventually([] { return listeners() == "2"; }));
  release();
  EXPECT_TRUE(first->is_woken_within(kAtOnce));
  EXPECT_FALSE(second->is_woken_within(kNoWake));
  EXPECT_TRUE(first->is_granted());
}

TEST_F(PostgresQueue, Q7AProgramThatLeavesWakesTheNext) {
  auto first = waiter("b000"), second = waiter("c000");
  second->listen();
  EXPECT_TRUE(eventually([] { return listeners() == "1"; }));
  release();
  EXPECT_TRUE(std::holds_alternative<NotHolder>(first->release(RunVerdict::given_back)));
  EXPECT_TRUE(second->is_woken_within(kAtOnce));
  EXPECT_TRUE(second->is_granted());
}

TEST_F(PostgresQueue, AWakeUpThatArrivesDuringARequestIsNotLost) {
  auto first = waiter("b000");
  first->listen();
  EXPECT_FALSE(first->is_woken_within(kNoWake));  // the server has the LISTEN
  // When: the notification is on the connection before the next request is answered
  EXPECT_EQ(first->place(), 0);
  release();
  first->listen();
  EXPECT_TRUE(first->is_woken_within(kAtOnce));
  EXPECT_FALSE(first->is_woken_within(kNoWake)) << "reported twice";
  EXPECT_TRUE(first->is_granted());
}

TEST_F(PostgresQueue, ARequestDoesNotWaitForTheEndOfTheListening) {
  auto first = waiter("b000");
  first->listen();
  const TimePoint began = boot_now();
  EXPECT_EQ(first->place(), 0);
  EXPECT_LT(boot_now() - began, kAtOnce);
}

TEST_F(PostgresQueue, AProgramThatIsGrantedTheLockStopsListening) {
  auto first = waiter("b000");
  first->listen();
  EXPECT_TRUE(eventually([] { return listeners() == "1"; }));
  release();
  EXPECT_TRUE(first->is_granted());
  EXPECT_TRUE(eventually([] { return listeners() == "0"; }));
}

TEST_F(PostgresQueue, ALostConnectionCostsTheWakeUpOnly) {
  auto first = waiter("b000");
  first->listen();
  EXPECT_TRUE(eventually([] { return listeners() == "1"; }));
  server()("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
  EXPECT_FALSE(first->is_woken_within(kNoWake));
  release();
  EXPECT_FALSE(first->is_woken_within(kNoWake));
  EXPECT_TRUE(first->is_granted());
}

// Every session of the database can read the names of channels that it listens to, and the
// statements of its role: the owner is in neither.
TEST_F(PostgresQueue, TheOwnerIsNotInTheChannel) {
  const std::string owner = "b0123456789abcdef";
  EXPECT_THAT(postgres::wake_channel(owner), Not(HasSubstr(owner)));
  auto first = waiter(owner);
  first->listen();
  EXPECT_TRUE(eventually([&] {
    return server().value("SELECT query FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") ==
           "LISTEN " + postgres::wake_channel(owner);
  }));
}

// The statements of one hand-off with that many programs that wait.
TEST_F(PostgresQueue, AHandOffCostsTheSameWithEachNumberOfPrograms) {
  const auto transactions = [](int waiters) {
    const StoreSpec spec = with_prefix(server().spec());
    Waiter holder(spec, "a000");
    EXPECT_TRUE(holder.is_granted());
    std::vector<std::unique_ptr<Waiter>> all;
    for (int i = 0; i < waiters; ++i) {
      all.push_back(std::make_unique<Waiter>(spec, "b" + std::to_string(1000 + i)));
      EXPECT_EQ(all.back()->place(), std::min(i, static_cast<int>(kMaxAhead)));
    }
    EXPECT_EQ(all[0]->place(), 0);
    all[0]->listen();
    EXPECT_FALSE(all[0]->is_woken_within(kNoWake));
    server()("ALTER SYSTEM SET log_statement = 'all'");
    server()("SELECT pg_reload_conf()");
    EXPECT_TRUE(eventually([] { return server().value("SHOW log_statement") == "all"; }));
    // Each session reads the setting before its next statement.
    (void)holder.place();
    EXPECT_EQ(all[0]->place(), 0);
    all[0]->listen();
    const std::size_t before = server().log().size();
    EXPECT_TRUE(std::holds_alternative<Released>(holder.release()));
    EXPECT_TRUE(all[0]->is_woken_within(kAtOnce));
    EXPECT_TRUE(all[0]->is_granted());
    const std::string log = server().log().substr(before);
    server()("ALTER SYSTEM RESET log_statement");
    server()("SELECT pg_reload_conf()");
    int statements = 0;
    for (std::size_t at = 0; (at = log.find("cronlatch", at)) != std::string::npos; ++at)
      ++statements;
    return statements;
  };
  const int with_one = transactions(1);
  EXPECT_GT(with_one, 0);
  EXPECT_EQ(transactions(is_long_run() ? 40 : 20), with_one);
}

// ---- wake=poll ----

TEST_F(PostgresQueue, WithWakePollNoListenIsSentAndTheOrderIsKept) {
  Waiter first(with_options(spec_, "?wake=poll"), "b000");
  Waiter second(with_options(spec_, "?sslmode=require&wake=poll"), "c000");
  EXPECT_EQ(first.place(), 0);
  EXPECT_EQ(second.place(), 1);
  first.listen();
  release();
  EXPECT_FALSE(first.is_woken_within(Millis(300)));
  EXPECT_TRUE(eventually([] { return listeners() == "0"; }));
  EXPECT_FALSE(second.is_granted());
  EXPECT_TRUE(first.is_granted());
}

TEST(PostgresQueuePooler, WithWakePollProgramsWaitInOrderBehindAPooler) {
  Pooler pooler(server());
  StoreSpec spec = with_prefix(pooler.spec());
  spec.url = pooler.url("?wake=poll");
  Waiter holder(spec, "a000"), first(spec, "b000"), second(spec, "c000");
  ASSERT_TRUE(holder.is_granted());
  EXPECT_EQ(first.place(), 0);
  EXPECT_EQ(second.place(), 1);
  first.listen();
  second.listen();
  EXPECT_TRUE(std::holds_alternative<Released>(holder.release()));
  EXPECT_FALSE(first.is_woken_within(kNoWake));
  EXPECT_FALSE(second.is_granted());
  EXPECT_TRUE(first.is_granted());
  EXPECT_EQ(server().value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%LISTEN cron%' "
                           "AND pid <> pg_backend_pid()"),
            "0");
}

}  // namespace
}  // namespace cronlatch::testing
