// SPDX-License-Identifier: Apache-2.0
// The option strict, on a real primary with a synchronous and an asynchronous standby: a grant or a
// renewal counts only when a synchronous standby has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "contract/contract.h"
#include "lock_load.h"
#include "store/open.h"
#include "support/eventually.h"
#include "support/long_tests.h"
#include "support/postgres_server.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOther = "other";
constexpr Millis kShort{1'000};
constexpr Millis kLong{10'000};

Acquire acquire(const std::string& lock, Millis within = kLong, const std::string& owner = "1") {
  Acquire request;
  request.lock = lock;
  request.claim = {owner, 1};
  request.ttl = Millis(60'000);
  request.give_up = boot_now() + within;
  return request;
}

Renew renew(const std::string& lock, Fence fence, Millis within) {
  return {.lock = lock,
          .claim = {"1", 1},
          .identity = {},
          .fence = fence,
          .ttl = Millis(60'000),
          .give_up = boot_now() + within};
}

StoreSpec strict(StoreSpec spec, std::size_t min_replicas = 0) {
  spec.strict = StrictSettings{min_replicas, std::chrono::minutes(10)};
  return spec;
}

std::optional<Reply> sent(const StoreSpec& spec, const Request& request) {
  const auto store = std::move(open_store(spec)).value();
  return send_and_wait(*store, request);
}

const Granted* grant_in(const std::optional<Reply>& reply) {
  return reply ? std::get_if<Granted>(&*reply) : nullptr;
}

Unavailable refusal(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Unavailable>(*reply)) return std::get<Unavailable>(*reply);
  ADD_FAILURE() << "not refused";
  return {{Code::bug, ""}};
}

void expect_too_few(const std::optional<Reply>& reply, const std::string& count) {
  const Unavailable error = refusal(reply);
  EXPECT_EQ(error.error.code, Code::unreachable);
  EXPECT_TRUE(error.transient);
  EXPECT_TRUE(error.unsent);
  EXPECT_THAT(error.error.message, HasSubstr("too few synchronous standbys"));
  EXPECT_THAT(error.error.message, HasSubstr(count));
}

LockState state_of(const PostgresServer& server, const std::string& lock) {
  const auto store = std::move(open_store(server.spec())).value();
  return store->show(lock, boot_now() + kLong)->state;
}

// ---- without a synchronous standby ----

TEST(PostgresStrict, WithoutASynchronousStandbyNothingIsGranted) {
  const auto primary = PostgresServer::start();
  // synchronous_commit = on confirms on the primary only.
  ASSERT_EQ(primary->value("SHOW synchronous_commit"), "on");
  expect_too_few(sent(strict(primary->spec()), acquire("none/a")), "0 of 1");
  EXPECT_EQ(state_of(*primary, "none/a"), LockState::free);
  // An asynchronous standby does not count.
  const auto standby = PostgresServer::start_standby(*primary);
  ASSERT_TRUE(eventually(
      [&] { return primary->value("SELECT sync_state FROM pg_stat_replication") == "async"; }));
  expect_too_few(sent(strict(primary->spec()), acquire("none/a")), "0 of 1");
  // Without strict the lock is granted, and that grant is not renewed with strict.
  const auto granted = sent(primary->spec(), acquire("none/a"));
  ASSERT_NE(grant_in(granted), nullptr);
  expect_too_few(sent(strict(primary->spec()), renew("none/a", grant_in(granted)->fence, kLong)),
                 "0 of 1");
}

TEST(PostgresStrict, NeedsAnOwnerThatCanSeeTheStandbys) {
  const auto primary = PostgresServer::start();
  (*primary)("REVOKE pg_read_all_stats FROM cronlatch_owner");
  const Unavailable error = refusal(sent(strict(primary->spec()), acquire("right/a")));
  EXPECT_EQ(error.error.code, Code::config);
  EXPECT_FALSE(error.transient);
  EXPECT_THAT(error.error.hint, HasSubstr("GRANT pg_read_all_stats"));
}

// ---- with one ----

class PostgresStrictGroup : public ::testing::Test {
 protected:
  PostgresStrictGroup() : primary_(PostgresServer::start()) {
    primary_->require_standby();
    standby_ = PostgresServer::start_standby(*primary_);
    primary_->await_standby();
  }
  bool waits_for_standby() const {
    return eventually([&] {
      return primary_->value(
                 "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") != "0";
    });
  }

  std::unique_ptr<PostgresServer> primary_, standby_;
};

TEST_F(PostgresStrictGroup, ASynchronousStandbyConfirmsGrantsAndRenewals) {
  const auto granted = sent(strict(primary_->spec()), acquire("one/a"));
  ASSERT_NE(grant_in(granted), nullptr);
  const auto renewed =
      sent(strict(primary_->spec()), renew("one/a", grant_in(granted)->fence, kLong));
  EXPECT_TRUE(renewed && std::holds_alternative<Renewed>(*renewed));
  // One is fewer than two.
  expect_too_few(sent(strict(primary_->spec(), 2), acquire("one/b")), "1 of 2");
  // An asynchronous one makes no difference.
  const auto other = PostgresServer::start_standby(*primary_, kOther);
  ASSERT_TRUE(eventually([&] {
    return primary_->value("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'async'") ==
           "1";
  }));
  expect_too_few(sent(strict(primary_->spec(), 2), acquire("one/b")), "1 of 2");
  // Of a quorum, as many confirm as it names, not as many as are connected.
  primary_->set("synchronous_standby_names", "'ANY 1 (standby, other)'");
  ASSERT_TRUE(eventually([&] {
    return primary_->value(
               "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == "2";
  }));
  expect_too_few(sent(strict(primary_->spec(), 2), acquire("one/b")), "1 of 2");
  EXPECT_NE(grant_in(sent(strict(primary_->spec(), 1), acquire("one/b"))), nullptr);
  primary_->set("synchronous_standby_names", "'FIRST 2 (standby, other)'");
  ASSERT_TRUE(eventually([&] {
    return primary_->value("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") ==
           "2";
  }));
  EXPECT_NE(grant_in(sent(strict(primary_->spec(), 2), acquire("one/c"))), nullptr);
}

TEST_F(PostgresStrictGroup, WhileTheStandbyIsStoppedNothingIsGrantedOrRenewed) {
  const StoreSpec spec = strict(primary_->spec());
  const auto granted = sent(spec, acquire("stopped/held"));
  ASSERT_NE(grant_in(granted), nullptr);
  const Fence fence = grant_in(granted)->fence;
  // It is connected, and confirms nothing.
  standby_->pause_receiver();
  EXPECT_EQ(grant_in(sent(spec, acquire("stopped/new", kShort))), nullptr);
  const auto renewed = sent(spec, renew("stopped/held", fence, kShort));
  EXPECT_TRUE(renewed && std::holds_alternative<Unavailable>(*renewed));
  // It is gone: refused at once.
  standby_->kill_receiver();
  primary_->await_standby();
  standby_->kill_now();
  ASSERT_TRUE(eventually(
      [&] { return primary_->value("SELECT count(*) FROM pg_stat_replication") == "0"; }));
  expect_too_few(sent(spec, acquire("stopped/new")), "0 of 1");
  expect_too_few(sent(spec, renew("stopped/held", fence, kLong)), "0 of 1");
  // When it is back, the same attempts are granted and renewed.
  standby_->restart();
  primary_->await_standby();
  EXPECT_NE(grant_in(sent(spec, acquire("stopped/new"))), nullptr);
  const auto kept = sent(spec, renew("stopped/held", fence, kLong));
  EXPECT_TRUE(kept && std::holds_alternative<Renewed>(*kept));
}

TEST_F(PostgresStrictGroup, ACommitThatIsOnThePrimaryOnlyDoesNotCount) {
  standby_->pause_receiver();
  std::thread canceler([&] {
    EXPECT_TRUE(waits_for_standby());
    (*primary_)("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  });
  const Unavailable error = refusal(sent(strict(primary_->spec()), acquire("local/a")));
  canceler.join();
  EXPECT_TRUE(error.transient);
  EXPECT_FALSE(error.unsent);
  EXPECT_THAT(error.error.message, HasSubstr("not confirmed by a standby"));
  standby_->kill_receiver();
  primary_->await_standby();
  EXPECT_NE(grant_in(sent(strict(primary_->spec()), acquire("local/a"))), nullptr);
}

// What strict prevents: without it, a role can select that commits do not wait for the standby.
TEST_F(PostgresStrictGroup, TheSettingOfTheRoleCannotWeakenIt) {
  (*primary_)("ALTER ROLE cron SET synchronous_commit = local");
  standby_->pause_receiver();
  EXPECT_EQ(grant_in(sent(strict(primary_->spec()), acquire("role/strict", kShort))), nullptr);
  EXPECT_NE(grant_in(sent(primary_->spec(), acquire("role/lost"))), nullptr);
  // A failover loses the grant that only the primary has, and the lock is granted again.
  primary_->kill_now();
  standby_->kill_receiver();
  standby_->promote();
  standby_->set("synchronous_standby_names", "''");
  ASSERT_TRUE(
      eventually([&] { return standby_->value("SHOW synchronous_standby_names").empty(); }));
  EXPECT_NE(grant_in(sent(standby_->spec(), acquire("role/lost", kLong, "2"))), nullptr);
  EXPECT_EQ(state_of(*standby_, "role/strict"), LockState::free);
}

TEST_F(PostgresStrictGroup, ForcedFailoversUnderLoadGrantNoLockTwice) {
  StoreSpec spec = strict(primary_->spec());
  spec.url = "postgres://cron@127.0.0.1:" + std::to_string(standby_->port()) +
             ",127.0.0.1:" + std::to_string(primary_->port()) + "/cronlatch";
  // Without strict these grants would be on the primary only.
  (*primary_)("ALTER ROLE cron SET synchronous_commit = local");
  LockLoad load(spec, 6, 2);
  for (int i = 0; i < (is_long_run() ? 20 : 3); ++i) {
    ASSERT_TRUE(load.runs_for(100)) << "round " << i;
    standby_->pause_receiver();
    EXPECT_TRUE(waits_for_standby());
    primary_->kill_now();
    standby_->kill_receiver();
    standby_->promote();
    primary_->follow(*standby_);
    std::swap(primary_, standby_);
    primary_->await_standby();
  }
  ASSERT_TRUE(load.runs_for(100));
  load.stop();
  EXPECT_THAT(load.violations(), IsEmpty());
  EXPECT_GT(load.unknown(), 0);
}

}  // namespace
}  // namespace cronlatch::testing
