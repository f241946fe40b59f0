// SPDX-License-Identifier: Apache-2.0
// What only PostgreSQL has: the schema and its rights, several hosts, standbys, transactions, and
// the settings of a server that a request must not depend on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "contract/contract.h"
#include "store/open.h"
#include "store/postgres/open_postgres.h"
#include "support/certificates.h"
#include "support/eventually.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"
#include "support/source_dir.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<Backend> opened(const StoreSpec& spec) {
  auto store = open_store(spec);
  if (!store) ADD_FAILURE() << store.error().message;
  return std::move(store).value();
}

Acquire acquire(const std::string& lock, const std::string& owner = "1") {
  Acquire request;
  request.lock = lock;
  request.claim = {owner, 1};
  request.identity = {"host", "shop/job", "", ""};
  request.ttl = Millis(60'000);
  request.give_up = boot_now() + Seconds(10);
  return request;
}

std::optional<Reply> sent(const StoreSpec& spec, const Request& request) {
  const auto store = opened(spec);
  return send_and_wait(*store, request);
}

bool is_granted(const std::optional<Reply>& reply) {
  return reply && std::holds_alternative<Granted>(*reply);
}

// The error of a request that was not executed.
Unavailable refusal(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Unavailable>(*reply)) return std::get<Unavailable>(*reply);
  ADD_FAILURE() << "not refused";
  return {{Code::bug, ""}};
}

PostgresServer& server() { return PostgresServer::shared(); }

// ---- the login ----

TEST(PostgresStore, AcceptsVerifiedTlsWithScramAndWithAPassword) {
  EXPECT_TRUE(is_granted(sent(server().spec("cron"), acquire("login/scram"))));
  EXPECT_TRUE(is_granted(sent(server().spec("clear"), acquire("login/clear"))));
  EXPECT_TRUE(
      is_granted(sent(server().spec("cron", "?sslmode=require"), acquire("login/require"))));
  EXPECT_TRUE(is_granted(sent(server().spec("cron", "?sslmode=disable"), acquire("login/plain"))));
}

TEST(PostgresStore, NeverSendsAPasswordToAServerThatIsNotVerified) {
  const Unavailable error =
      refusal(sent(server().spec("clear", "?sslmode=require"), acquire("login/unverified")));
  EXPECT_EQ(error.error.code, Code::auth);
  EXPECT_FALSE(error.transient);
  EXPECT_THAT(error.error.message, HasSubstr("without a hash"));
}

// The role postgres needs no password here: the server shows no proof that it knows it.
TEST(PostgresStore, RefusesAnUnverifiedServerThatShowsNoProof) {
  for (const char* options : {"?sslmode=require", "?sslmode=disable"}) {
    const Unavailable error =
        refusal(sent(server().spec("postgres", options), acquire("login/no-proof")));
    EXPECT_EQ(error.error.code, Code::auth) << options;
    EXPECT_FALSE(error.transient) << options;
    EXPECT_THAT(error.error.message, HasSubstr("requested no password")) << options;
  }
  EXPECT_TRUE(is_granted(sent(server().spec("postgres"), acquire("login/no-proof"))));
}

TEST(PostgresStore, RefusesMd5) {
  const Unavailable error = refusal(sent(server().spec("old"), acquire("login/md5")));
  EXPECT_EQ(error.error.code, Code::auth);
  EXPECT_THAT(error.error.message, HasSubstr("md5"));
}

// As each password of a PostgreSQL 13 with its default for password_encryption.
TEST(PostgresStore, RefusesAPasswordThatTheServerHasAsMd5Only) {
  server()("SET password_encryption = 'md5'; CREATE ROLE short LOGIN PASSWORD 'secret'");
  const Unavailable error = refusal(sent(server().spec("short"), acquire("login/stored-md5")));
  EXPECT_EQ(error.error.code, Code::auth);
  EXPECT_FALSE(error.transient);
  EXPECT_THAT(error.error.message, HasSubstr("refused the user name or the password"));
}

TEST(PostgresStore, ReportsAWrongPasswordAndAnUnknownRoleWithoutTheSecret) {
  StoreSpec wrong = server().spec("cron");
  wrong.password = Secret("canary-password");
  const Unavailable error = refusal(sent(wrong, acquire("login/wrong")));
  EXPECT_EQ(error.error.code, Code::auth);
  EXPECT_FALSE(error.transient);
  EXPECT_TRUE(error.unsent);
  EXPECT_THAT(error.error.message + error.error.hint, Not(HasSubstr("canary")));
  EXPECT_EQ(refusal(sent(server().spec("nobody-there"), acquire("login/role"))).error.code,
            Code::auth);
  StoreSpec none = server().spec("cron");
  none.password = Secret();
  EXPECT_THAT(refusal(sent(none, acquire("login/none"))).error.message,
              HasSubstr("requires a password"));
}

TEST(PostgresStore, RefusesACertificateOfAnotherNameOrCa) {
  StoreSpec name = server().spec();
  name.tls_server_name = "db.example";
  const Unavailable wrong_name = refusal(sent(name, acquire("tls/name")));
  EXPECT_EQ(wrong_name.error.code, Code::tls);
  EXPECT_FALSE(wrong_name.transient);
  StoreSpec ca = server().spec();
  ca.tls_ca = PostgresServer::certificates().other_ca();
  EXPECT_EQ(refusal(sent(ca, acquire("tls/ca"))).error.code, Code::tls);
}

TEST(PostgresStore, RefusesARoleWithoutTheRight) {
  const Unavailable error = refusal(sent(server().spec("stranger"), acquire("login/stranger")));
  EXPECT_EQ(error.error.code, Code::acl);
  EXPECT_THAT(error.error.hint, HasSubstr("GRANT cronlatch_user"));
}

TEST(PostgresStore, GivesARunNoRightOnTablesAndOtherFunctions) {
  for (const char* statement :
       {"SELECT * FROM cronlatch.locks", "DELETE FROM cronlatch.locks",
        "SELECT * FROM cronlatch.slots", "UPDATE cronlatch.version SET version = 9",
        "CREATE TABLE cronlatch.mine (a int)", "SELECT cronlatch.read_clock()",
        "SELECT cronlatch.count(1, '', ARRAY['acquired'])"})
    EXPECT_EQ(server().value("SET ROLE cron; DO $$ BEGIN EXECUTE '" +
                             std::string(std::string(statement).find('\'') == std::string::npos
                                             ? statement
                                             : "SELECT cronlatch.count(1, '''', ARRAY[''a''])") +
                             "'; EXCEPTION WHEN insufficient_privilege THEN PERFORM "
                             "set_config('test.denied', 'yes', true); END $$; SELECT "
                             "current_setting('test.denied', true)"),
              "yes")
        << statement;
}

// ---- the schema ----

TEST(PostgresStore, CreatesItsSchemaAgainWithoutAChange) {
  const StoreSpec owner = server().spec("cronlatch_owner");
  ASSERT_TRUE(is_granted(sent(server().spec(), acquire("schema/again"))));
  const auto again = postgres::create_schema(owner, boot_now() + Seconds(30));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, "127.0.0.1:" + std::to_string(server().port()));
  EXPECT_EQ(opened(server().spec())->show("schema/again", boot_now() + Seconds(10))->state,
            LockState::held);
}

TEST(PostgresStore, ReportsAMissingSchemaAndHowToCreateIt) {
  server()("DROP DATABASE IF EXISTS empty", "postgres");
  server()("CREATE DATABASE empty", "postgres");
  StoreSpec spec = server().spec();
  spec.url.replace(spec.url.rfind('/'), std::string::npos, "/empty");
  const Unavailable error = refusal(sent(spec, acquire("schema/missing")));
  EXPECT_EQ(error.error.code, Code::config);
  EXPECT_FALSE(error.transient);
  EXPECT_THAT(error.error.hint, HasSubstr("cronlatch store init"));
  spec.url.replace(spec.url.rfind('/'), std::string::npos, "/absent");
  EXPECT_THAT(refusal(sent(spec, acquire("schema/database"))).error.message,
              HasSubstr("the database does not exist"));
  // A role that may not create it
  spec.url.replace(spec.url.rfind('/'), std::string::npos, "/empty");
  const auto created = postgres::create_schema(spec, boot_now() + Seconds(30));
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().code, Code::acl);
}

TEST(PostgresStore, RefusesAnOlderAndANewerSchema) {
  const auto with_version = [](int version, int oldest) {
    server()("UPDATE cronlatch.version SET version = " + std::to_string(version) +
             ", oldest_program = " + std::to_string(oldest));
    return sent(server().spec(), acquire("schema/version-" + std::to_string(version)));
  };
  const Unavailable older = refusal(with_version(2, 1));
  EXPECT_EQ(older.error.code, Code::config);
  EXPECT_THAT(older.error.message, HasSubstr("has version 2, this program needs version 3"));
  EXPECT_THAT(older.error.hint, HasSubstr("store init"));
  EXPECT_THAT(refusal(with_version(5, 5)).error.message, HasSubstr("too new"));
  // A newer schema that this program can use
  EXPECT_TRUE(is_granted(with_version(5, 4)));
  const auto created =
      postgres::create_schema(server().spec("cronlatch_owner"), boot_now() + Seconds(30));
  server()("UPDATE cronlatch.version SET version = 4, oldest_program = 3");
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().code, Code::config);
  EXPECT_THAT(created.error().message, HasSubstr("too new"));
}

// The constraints, with the table of each. Those of version 2 are the first seven.
const std::vector<std::pair<std::string, std::string>> kLimits = {
    {"locks", "locks_names"},         {"locks", "locks_numbers"},  {"counters", "counters_names"},
    {"counters", "counters_numbers"}, {"groups", "groups_limits"}, {"done", "done_limits"},
    {"answers", "answers_limits"},    {"locks", "locks_turn"},     {"answers", "answers_letters"},
    {"queue", "queue_limits"},        {"locks", "locks_slots"},    {"slots", "slots_names"},
    {"slots", "slots_numbers"}};
constexpr std::size_t kLimitsOfVersion2 = 7;

void drop_limits(const PostgresServer& own, std::size_t count = kLimits.size()) {
  for (std::size_t i = 0; i < count; ++i)
    own("ALTER TABLE cronlatch." + kLimits[i].first + " DROP CONSTRAINT " + kLimits[i].second);
}

// A server with the schema of version 2, as that version created it.
std::unique_ptr<PostgresServer> server_of_version_2() {
  auto own = PostgresServer::start(false);
  std::ifstream file(source_dir() + "/tests/postgres/schema_2.sql");
  const std::string schema{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(schema.empty());
  (*own)("SET ROLE cronlatch_owner; " + schema);
  return own;
}

// Calls of a member of cronlatch_user, who can choose every argument.
std::string call_of_acquire(const std::string& prefix, const std::string& lock,
                            const std::string& job, const std::string& bucket) {
  return "cronlatch.acquire('" + prefix + "', '" + lock +
         "', 9000000000000000, 'o', 1, 60000000, 'holder', " + job + ", '', '', 0, 'skip', 1, '" +
         bucket + "', 0)";
}

void upgrade(const PostgresServer& own) {
  const auto upgraded =
      postgres::create_schema(own.spec("cronlatch_owner"), boot_now() + Seconds(30));
  ASSERT_TRUE(upgraded.ok()) << upgraded.error().message;
}

TEST(PostgresStore, UpgradesASchemaOfVersion2AndKeepsItsLocks) {
  const auto own = server_of_version_2();
  const std::string fence = own->value("SET ROLE cron; SELECT o_fence FROM " +
                                       call_of_acquire("cronlatch:", "up/held", "'job'", "0"));
  ASSERT_NE(fence, "");
  // This program needs the upgrade.
  EXPECT_THAT(refusal(sent(own->spec(), acquire("up/held"))).error.hint, HasSubstr("store init"));
  // When, more than once
  upgrade(*own);
  upgrade(*own);
  // Then: one function of each name, which a run may execute
  EXPECT_EQ(own->value("SELECT version || ' ' || oldest_program FROM cronlatch.version"), "4 3");
  EXPECT_EQ(own->value("SELECT string_agg(proname, ' ') FROM (SELECT proname FROM pg_proc WHERE "
                       "pronamespace = 'cronlatch'::regnamespace GROUP BY proname HAVING "
                       "count(*) > 1) AS double"),
            "");
  // The lock is held as before, and its holder releases it to the run that waits.
  Acquire waiter = acquire("up/held", "2");
  waiter.if_busy = IfBusy::wait;
  const auto busy = sent(own->spec(), waiter);
  ASSERT_TRUE(busy && std::holds_alternative<Busy>(*busy));
  EXPECT_EQ(std::get<Busy>(*busy).ahead, 0u);
  const Release release{
      .lock = "up/held", .claim = {"o", 1}, .identity = {}, .give_up = boot_now() + Seconds(10)};
  const auto released = sent(own->spec(), release);
  ASSERT_TRUE(released && std::holds_alternative<Released>(*released));
  EXPECT_EQ(std::get<Released>(*released).wake, "2");
  EXPECT_TRUE(is_granted(sent(own->spec(), waiter)));
}

TEST(PostgresStore, UpgradesASchemaOfVersion1) {
  const auto own = server_of_version_2();
  drop_limits(*own, kLimitsOfVersion2);
  (*own)("UPDATE cronlatch.version SET version = 1, oldest_program = 1");
  (*own)("SET ROLE cron; SELECT FROM " + call_of_acquire("cronlatch:", "up/held", "'job'", "0"));
  (*own)(
      "INSERT INTO cronlatch.counters SELECT id, repeat('j', 2000), 'acquired', 1 FROM "
      "cronlatch.locks");
  upgrade(*own);
  EXPECT_EQ(own->value("SELECT version FROM cronlatch.version"), "4");
  for (const auto& [table, name] : kLimits)
    EXPECT_EQ(own->value("SELECT count(*) FROM pg_constraint WHERE conname = '" + name + "'"), "1")
        << name;
  // The lock is held as before; its counters of version 1 stay.
  const auto other = sent(own->spec(), acquire("up/held", "2"));
  EXPECT_TRUE(other && std::holds_alternative<Busy>(*other));
  EXPECT_EQ(own->value("SELECT count(*) FROM cronlatch.counters WHERE length(job) = 2000"), "1");
}

TEST(PostgresStore, KeepsNamesAndSizesWithinLimits) {
  StoreSpec other = server().spec();
  other.key_prefix = "limits:";
  ASSERT_TRUE(is_granted(sent(other, acquire("of/another-team"))));
  // A member stores nothing that a list of another prefix cannot read.
  for (const std::string& refused :
       {call_of_acquire("limits:", "a", "'job'", "0=1,x"),
        call_of_acquire("limits:", "a", "'job'", "9"),
        call_of_acquire("limits:", "a", "repeat('j', 1025)", "0"),
        call_of_acquire("limits:", "a b", "'job'", "0"),
        call_of_acquire("limits:", "", "'job'", "0"),
        call_of_acquire("limits:", std::string(201, 'l'), "'job'", "0"),
        call_of_acquire("limits{", "a", "'job'", "0"), call_of_acquire("", "a", "'job'", "0"),
        std::string("cronlatch.renew('limits:', 'a', 9000000000000000, 'o', 1, "
                    "9223372036854775807, 60000000, '', '', '', '')"),
        std::string("cronlatch.acquire('limits:', 'a', 9000000000000000, 'o', "
                    "1, 9000000000000, '', '', '', '', 0, 'skip', 0, '0', 9000000000000000)")})
    EXPECT_EQ(server().value("SET ROLE cron; DO $$ BEGIN EXECUTE $q$SELECT " + refused +
                             "$q$; EXCEPTION WHEN check_violation THEN PERFORM "
                             "set_config('test.refused', 'yes', true); END $$; SELECT "
                             "current_setting('test.refused', true)"),
              "yes")
        << refused;
  EXPECT_EQ(opened(other)->list(boot_now() + Seconds(10))->size(), 1u);
  // The run gets an error that names the limits.
  const Unavailable error = refusal(sent(other, acquire("not a lock")));
  EXPECT_EQ(error.error.code, Code::config);
  EXPECT_FALSE(error.transient);
  EXPECT_THAT(error.error.hint, HasSubstr("limits"));
  // Every counter of a lock is within them.
  for (const std::string_view name : kCounterNames)
    EXPECT_NE(
        server().value("INSERT INTO cronlatch.counters SELECT id, 'every', '" + std::string(name) +
                       "', 1 FROM cronlatch.locks WHERE prefix = 'limits:' RETURNING value"),
        "")
        << name;
}

TEST(PostgresStore, ShowsAnUnreadableLockAsDamagedAndListsTheOthers) {
  const auto own = PostgresServer::start();
  drop_limits(*own);
  for (const char* lock : {"a/fine", "b/name", "c/text", "d/number", "e/huge"})
    ASSERT_TRUE(is_granted(sent(own->spec(), acquire(lock))));
  (*own)("SET ROLE cron; SELECT " + call_of_acquire("cronlatch:", "b/other", "'job'", "x,y"));
  (*own)(
      "INSERT INTO cronlatch.counters SELECT id, 'j', 'a,b', 1 FROM cronlatch.locks WHERE lock "
      "= 'b/name'");
  (*own)("UPDATE cronlatch.locks SET holder = repeat('h', 5000) WHERE lock = 'c/text'");
  (*own)("UPDATE cronlatch.locks SET ttl = -1 WHERE lock = 'd/number'");
  (*own)(
      "UPDATE cronlatch.locks SET acquired = 9223372036854775807, min_hold = "
      "9223372036854775807 WHERE lock = 'e/huge'");
  const auto store = opened(own->spec());
  const auto views = store->list(boot_now() + Seconds(10));
  ASSERT_TRUE(views.ok()) << views.error().message;
  std::map<std::string, LockState> states;
  for (const LockView& view : *views) states[view.lock] = view.state;
  EXPECT_EQ(states, (std::map<std::string, LockState>{{"a/fine", LockState::held},
                                                      {"b/name", LockState::damaged},
                                                      {"b/other", LockState::damaged},
                                                      {"c/text", LockState::damaged},
                                                      {"d/number", LockState::damaged},
                                                      {"e/huge", LockState::damaged}}));
  EXPECT_TRUE(store->show("a/fine", boot_now() + Seconds(10)).ok());
  const auto shown = store->show("c/text", boot_now() + Seconds(10));
  ASSERT_FALSE(shown.ok());
  EXPECT_EQ(shown.error().code, Code::config);
  EXPECT_THAT(shown.error().message, HasSubstr("c/text"));
}

TEST(PostgresStore, AListEndsAtItsDeadlineOnTheServer) {
  const auto own = PostgresServer::start();
  const auto store = opened(own->spec());
  ASSERT_TRUE(store->list(boot_now() + Seconds(10)).ok());
  // Given: a transaction that excludes readers
  std::thread blocker([&] {
    (*own)(
        "BEGIN; LOCK TABLE cronlatch.locks; DO $$ BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN "
        "query_canceled THEN NULL; END $$; COMMIT");
  });
  const auto sleeping = [&] {
    return own->value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
  };
  EXPECT_TRUE(eventually([&] { return sleeping() != "0"; }));
  // When
  EXPECT_FALSE(store->list(boot_now() + Millis(300)).ok());
  // Then: the server does not continue it
  EXPECT_TRUE(eventually(
      [&] {
        return own->value(
                   "SELECT count(*) FROM pg_stat_activity WHERE usename = 'cron' AND state = "
                   "'active'") == "0";
      },
      std::chrono::seconds(5)));
  own->value(
      "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
  blocker.join();
}

TEST(PostgresStore, RefusesASchemaOfAnotherRole) {
  server()("DROP DATABASE IF EXISTS foreign_schema", "postgres");
  server()("CREATE DATABASE foreign_schema OWNER cronlatch_owner", "postgres");
  server()("CREATE SCHEMA cronlatch AUTHORIZATION stranger", "foreign_schema");
  StoreSpec spec = server().spec("cronlatch_owner");
  spec.url.replace(spec.url.rfind('/'), std::string::npos, "/foreign_schema");
  const auto created = postgres::create_schema(spec, boot_now() + Seconds(30));
  ASSERT_FALSE(created.ok());
  EXPECT_THAT(created.error().message, HasSubstr("belongs to role stranger"));
}

// ---- hosts ----

TEST(PostgresStore, UsesTheFirstHostThatIsReachableAndNotInRecovery) {
  const auto standby = PostgresServer::start();
  ASSERT_TRUE(is_granted(sent(standby->spec(), acquire("hosts/before"))));
  standby->become_standby();
  // Alone: unavailable, and a retry can help
  const Unavailable alone = refusal(sent(standby->spec(), acquire("hosts/alone")));
  EXPECT_TRUE(alone.transient);
  EXPECT_THAT(alone.error.message, HasSubstr("in recovery"));
  // With a dead host and the primary
  StoreSpec spec = server().spec();
  const std::string primary = "127.0.0.1:" + std::to_string(server().port());
  spec.url = "postgres://cron@127.0.0.1:" + std::to_string(free_port()) +
             ",127.0.0.1:" + std::to_string(standby->port()) + "," + primary + "/cronlatch";
  EXPECT_TRUE(is_granted(sent(spec, acquire("hosts/three"))));
  EXPECT_EQ(opened(server().spec())->show("hosts/three", boot_now() + Seconds(10))->state,
            LockState::held);
  // The exporter names the host in use.
  const auto store = opened(spec);
  EXPECT_EQ(store->server(), "");
  ASSERT_TRUE(store->list(boot_now() + Seconds(10)).ok());
  EXPECT_EQ(store->server(), primary);
}

// ---- transactions ----

TEST(PostgresStore, GivesUpWhileAnotherTransactionLocksTheRow) {
  const auto store = opened(server().spec());
  ASSERT_TRUE(is_granted(send_and_wait(*store, acquire("rows/locked"))));
  // Given: a transaction that keeps the row locked
  std::thread blocker([] {
    server()(
        "BEGIN; SELECT 1 FROM cronlatch.locks WHERE lock = 'rows/locked' FOR UPDATE; "
        "DO $$ BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END $$; "
        "COMMIT");
  });
  EXPECT_TRUE(eventually([] {
    return server().value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") !=
           "0";
  }));
  // When
  Acquire request = acquire("rows/locked");
  request.give_up = boot_now() + Millis(500);
  const auto reply = send_and_wait(*store, request);
  // Then: it ends at its deadline, and nothing was changed
  EXPECT_LT(boot_now(), request.give_up + Seconds(1));
  EXPECT_TRUE(reply && std::holds_alternative<Unavailable>(*reply));
  server().value(
      "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
  blocker.join();
  EXPECT_TRUE(is_granted(sent(server().spec(), acquire("rows/locked"))));
}

TEST(PostgresStore, SendsTheSameAttemptAgainAfterASerializationFailure) {
  // Given: a clock that fails once with 40001, after the row was locked
  server()(
      "CREATE SEQUENCE IF NOT EXISTS public.failures; "
      "GRANT USAGE ON SEQUENCE public.failures TO PUBLIC; "
      "CREATE OR REPLACE FUNCTION cronlatch.read_clock() RETURNS bigint LANGUAGE plpgsql AS $$ "
      "BEGIN IF nextval('public.failures') = 2 THEN RAISE EXCEPTION 'again' USING ERRCODE = "
      "'40001'; END IF; RETURN round(extract(epoch FROM clock_timestamp()) * "
      "1000000)::bigint; END $$");
  const auto reply = sent(server().spec(), acquire("rows/again"));
  const std::string calls = server().value("SELECT last_value FROM public.failures");
  const auto restored =
      postgres::create_schema(server().spec("cronlatch_owner"), boot_now() + Seconds(30));
  // Then: the greeting, the failure and the repetition
  EXPECT_TRUE(is_granted(reply));
  EXPECT_EQ(calls, "3");
  ASSERT_TRUE(restored.ok()) << restored.error().message;
}

TEST(PostgresStore, DoesNotTrustACommitThatNoStandbyConfirmed) {
  // Given: a server that waits for a standby that does not exist
  const auto alone = PostgresServer::start();
  alone->set("synchronous_standby_names", "'absent'");
  ASSERT_TRUE(
      eventually([&] { return alone->value("SHOW synchronous_standby_names") == "absent"; }));
  // When: an administrator cancels the wait, which the server reports as a warning only
  const auto store = opened(alone->spec());
  std::thread canceler([&] {
    EXPECT_TRUE(eventually([&] {
      return alone->value(
                 "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE "
                 "wait_event = 'SyncRep'") != "0";
    }));
  });
  const auto reply = send_and_wait(*store, acquire("standby/absent"));
  canceler.join();
  // Then
  ASSERT_TRUE(reply && std::holds_alternative<Unavailable>(*reply));
  EXPECT_THAT(std::get<Unavailable>(*reply).error.message, HasSubstr("not confirmed by a standby"));
  EXPECT_TRUE(std::get<Unavailable>(*reply).transient);
  EXPECT_FALSE(std::get<Unavailable>(*reply).unsent);
  // And: the repetition is granted once the server needs no standby
  alone->set("synchronous_standby_names", "''");
  EXPECT_TRUE(is_granted(send_and_wait(*store, acquire("standby/absent"))));
}

TEST(PostgresStore, DoesNotDependOnTheSettingsOfTheRole) {
  server()(
      "ALTER ROLE cron SET default_transaction_read_only = on; "
      "ALTER ROLE cron SET default_transaction_isolation = 'serializable'; "
      "ALTER ROLE cron SET client_min_messages = error; "
      "ALTER ROLE cron SET search_path = public; "
      "ALTER ROLE cron SET statement_timeout = 0; "
      "ALTER ROLE cron SET synchronous_commit = off");
  const auto reply = sent(server().spec(), acquire("settings/role"));
  // A confirmed grant survives a crash of the server.
  const std::string commit = server().value(
      "SET synchronous_commit = off; BEGIN; "
      "SELECT cronlatch.lock_row('settings:', 'x'); ROLLBACK; SELECT 'done'");
  server()("ALTER ROLE cron RESET ALL");
  EXPECT_TRUE(is_granted(reply));
  EXPECT_FALSE(commit.empty());
  const auto rows = server()(
      "BEGIN; SET LOCAL synchronous_commit = off; SELECT count(*) FROM (SELECT "
      "cronlatch.lock_row('settings:', 'y')) AS r; SELECT current_setting('synchronous_commit'); "
      "ROLLBACK");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][0], "local");
}

TEST(PostgresStore, SurvivesACrashOfTheServer) {
  const auto own = PostgresServer::start();
  const auto store = opened(own->spec());
  const auto first = send_and_wait(*store, acquire("crash"));
  ASSERT_TRUE(is_granted(first));
  // While it is down
  own->kill_now();
  const auto down = send_and_wait(*store, acquire("crash", "2"));
  ASSERT_TRUE(down && std::holds_alternative<Unavailable>(*down));
  EXPECT_TRUE(std::get<Unavailable>(*down).transient);
  own->restart();
  // The grant is still there, for its holder and for others
  const auto other = send_and_wait(*store, acquire("crash", "2"));
  EXPECT_TRUE(other && std::holds_alternative<Busy>(*other));
  const auto again = send_and_wait(*store, acquire("crash"));
  ASSERT_TRUE(is_granted(again));
  EXPECT_EQ(std::get<Granted>(*again).fence, std::get<Granted>(*first).fence);
}

TEST(PostgresStore, DeletesLocksThatWereNotUsedFor90Days) {
  StoreSpec spec = server().spec();
  spec.key_prefix = "purge:";
  const auto store = opened(spec);
  ASSERT_TRUE(is_granted(send_and_wait(*store, acquire("old/held"))));
  server()(
      "INSERT INTO cronlatch.locks (prefix, lock, state, used_day) VALUES ('purge:', "
      "'old/free', 'free', 10), ('purge:', 'old/open', 'held', 10), ('purge:', 'old/done', 'free', "
      "10), ('purge:', 'old/forgotten', 'free', 10)");
  // The longest once-ttl is 365 days.
  server()(
      "INSERT INTO cronlatch.done (lock_id, job, once, finished) SELECT id, 'j', 'x', "
      "(extract(epoch FROM now()) * 1000000)::bigint - CASE lock WHEN 'old/done' THEN 364 ELSE 366 "
      "END * 86400000000 FROM cronlatch.locks WHERE lock IN ('old/done', 'old/forgotten')");
  ASSERT_TRUE(is_granted(send_and_wait(*store, acquire("new"))));
  EXPECT_EQ(server().value("SELECT string_agg(lock, ' ' ORDER BY lock) FROM cronlatch.locks WHERE "
                           "prefix = 'purge:'"),
            "new old/done old/held old/open");
}

TEST(PostgresStore, StoresTextsThatAreNotUtf8) {
  Acquire request = acquire("texts/bytes");
  request.identity.holder = std::string("pod\xff\xfe\0end", 9);
  EXPECT_TRUE(is_granted(sent(server().spec(), request)));
}

}  // namespace
}  // namespace cronlatch::testing
