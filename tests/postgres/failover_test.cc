// SPDX-License-Identifier: Apache-2.0
// A primary and its synchronous standby, both real: under load the primary is killed and the
// standby is promoted. Every grant that a client got is on the new primary, and no lock has two
// holders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/contract.h"
#include "lock_load.h"
#include "store/open.h"
#include "support/eventually.h"
#include "support/long_tests.h"
#include "support/postgres_server.h"

namespace cronlatch::testing {
namespace {

using ::testing::IsEmpty;

class PostgresFailover : public ::testing::Test {
 protected:
  PostgresFailover() : primary_(PostgresServer::start()) {
    primary_->require_standby();
    standby_ = PostgresServer::start_standby(*primary_);
    primary_->await_standby();
  }

  // Both hosts, in any order: the store finds the primary.
  StoreSpec spec() const {
    StoreSpec spec = primary_->spec();
    spec.url = "postgres://cron@127.0.0.1:" + std::to_string(standby_->port()) +
               ",127.0.0.1:" + std::to_string(primary_->port()) + "/cronlatch";
    return spec;
  }
  static std::unique_ptr<Backend> opened(const StoreSpec& spec) {
    return std::move(open_store(spec)).value();
  }
  static Acquire acquire(const std::string& lock, Seconds within) {
    Acquire request;
    request.lock = lock;
    request.claim = {"1", 1};
    request.ttl = Millis(60'000);
    request.give_up = boot_now() + within;
    return request;
  }
  static bool is_granted(const std::optional<Reply>& reply) {
    return reply && std::holds_alternative<Granted>(*reply);
  }
  bool waits_for_standby(int commits) const {
    return eventually([&] {
      return std::stoi(primary_->value(
                 "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")) >= commits;
    });
  }
  // The former primary returns as the standby of the new one.
  void exchange_roles() {
    standby_->promote();
    primary_->follow(*standby_);
    std::swap(primary_, standby_);
    primary_->await_standby();
  }

  std::unique_ptr<PostgresServer> primary_, standby_;
};

TEST_F(PostgresFailover, KeepsEveryConfirmedGrantAndNeverGrantsTwice) {
  const int rounds = is_long_run() ? 20 : 3;
  LockLoad load(spec(), 6, 2);
  for (int i = 0; i < rounds; ++i) {
    ASSERT_TRUE(load.runs_for(100)) << "round " << i;
    // When: commits are on the primary only, and it is killed with them
    standby_->pause_receiver();
    EXPECT_TRUE(waits_for_standby(2));
    primary_->kill_now();
    standby_->kill_receiver();
    exchange_roles();
  }
  // Then
  ASSERT_TRUE(load.runs_for(100));
  load.stop();
  EXPECT_THAT(load.violations(), IsEmpty());
  EXPECT_GT(load.unknown(), 0);
  // C1, and C2: each confirmed grant is counted once, also where its request was repeated
  const auto views = opened(spec())->list(boot_now() + Seconds(10));
  ASSERT_TRUE(views.ok()) << views.error().message;
  std::int64_t acquired = 0, released = 0;
  for (const LockView& view : *views)
    for (const auto& [job, counters] : view.jobs) {
      acquired += counters.get("acquired");
      released += counters.get("released");
      EXPECT_EQ(counters.get("stolen") + counters.get("restored"), 0) << view.lock;
    }
  EXPECT_EQ(acquired, released);
  EXPECT_GE(acquired, load.grants());
}

TEST_F(PostgresFailover, APrimaryThatIsIsolatedConfirmsNothing) {
  const auto holder = opened(primary_->spec());
  const auto grant = send_and_wait(*holder, acquire("isolated/held", Seconds(10)));
  ASSERT_TRUE(is_granted(grant));
  // When: the standby is promoted while the primary still runs
  standby_->promote();
  standby_->set("synchronous_standby_names", "''");
  // Then: the former primary confirms neither a grant nor a renewal, each within its deadline
  const TimePoint start = boot_now();
  const auto other = send_and_wait(*opened(primary_->spec()), acquire("isolated/new", Seconds(1)));
  ASSERT_TRUE(other && std::holds_alternative<Unavailable>(*other));
  EXPECT_FALSE(std::get<Unavailable>(*other).unsent);
  Renew renew{"isolated/held", {"1", 1}, {}, std::get<Granted>(*grant).fence, Millis(60'000), {}};
  renew.give_up = boot_now() + Seconds(1);
  const auto renewed = send_and_wait(*holder, renew);
  EXPECT_TRUE(renewed && std::holds_alternative<Unavailable>(*renewed));
  EXPECT_LT(boot_now() - start, Seconds(5));
  // And: the promoted server has the grant, renews it, and grants the lock that was refused there
  const auto promoted = opened(standby_->spec());
  renew.give_up = boot_now() + Seconds(10);
  const auto kept = send_and_wait(*promoted, renew);
  ASSERT_TRUE(kept && std::holds_alternative<Renewed>(*kept));
  EXPECT_FALSE(std::get<Renewed>(*kept).restored);
  EXPECT_TRUE(is_granted(send_and_wait(*promoted, acquire("isolated/new", Seconds(10)))));
}

TEST_F(PostgresFailover, AGrantWaitsForTheStandby) {
  standby_->pause_receiver();
  const auto store = opened(spec());
  // While the standby receives nothing
  const auto first = send_and_wait(*store, acquire("wait/standby", Seconds(1)));
  EXPECT_FALSE(is_granted(first));
  // When it is back, the same attempt is granted
  standby_->kill_receiver();
  EXPECT_TRUE(is_granted(send_and_wait(*store, acquire("wait/standby", Seconds(10)))));
}

}  // namespace
}  // namespace cronlatch::testing
