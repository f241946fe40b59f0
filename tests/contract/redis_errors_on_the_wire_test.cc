// SPDX-License-Identifier: Apache-2.0
// A real server in trouble: paused, killed, full, read-only, busy, closed to us. And how few
// commands a run costs.
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include "contract/redis_support.h"
#include "core/lock_json.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// command -> calls, those of clients and those inside scripts together.
std::map<std::string, int> calls(const RedisServer& server) {
  std::map<std::string, int> counted;
  std::istringstream lines(redis_command(server.port(), {"INFO", "commandstats"}).text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cmdstat_")) continue;
    const std::size_t colon = line.find(':');
    counted[line.substr(8, colon - 8)] = std::atoi(line.c_str() + colon + sizeof(":calls=") - 1);
  }
  return counted;
}

void wait_until(const std::function<bool()>& condition) {
  const TimePoint limit = boot_now() + kPatience;
  while (!condition()) {
    ASSERT_LT(boot_now(), limit);
    std::this_thread::sleep_for(Millis(2));
  }
}

Unavailable down_of(const std::optional<Reply>& reply) {
  if (down_in(reply) != nullptr) return *down_in(reply);
  ADD_FAILURE() << said(reply);
  return {};
}

struct Stated {
  Code code;
  bool transient;
  std::string words;
};
void expect_down(const std::optional<Reply>& reply, const Stated& stated) {
  const Unavailable down = down_of(reply);
  EXPECT_EQ(down.error.code, stated.code) << down.error.message;
  EXPECT_EQ(down.transient, stated.transient) << down.error.message;
  EXPECT_THAT(down.error.message, HasSubstr(stated.words));
}

TEST(RedisCost, IsFourCommandsForAShortRun) {
  // given: a lock that the index knows
  const auto server = RedisServer::start();
  RedisProgram before(spec_of(plain_url(*server)), "bb22");
  const auto first = before(before.program.acquire());
  ASSERT_NE(granted_in(first), nullptr);
  before(before.program.release(granted_in(first)->fence));
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  // when
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  run(run.program.release(granted_in(reply)->fence));
  // then: one more TIME inside each of the two scripts
  auto counted = calls(*server);
  EXPECT_EQ(counted["hello"], 1);
  EXPECT_EQ(counted["time"], 1 + 2);
  EXPECT_EQ(counted["evalsha"], 2);
  EXPECT_EQ(counted["select"] + counted["ping"] + counted["eval"] + counted["script|load"], 0);
}

TEST(RedisCost, IncludesTheScriptsTextOnlyForAServerThatForgotIt) {
  // given: a lock that was taken while the server knew the scripts
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  redis_command(server->port(), {"SCRIPT", "FLUSH"});
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  // when
  const auto released = run(run.program.release(granted_in(reply)->fence));
  // then: the same attempt was asked again, and answered once
  EXPECT_EQ(released, Reply(Released{})) << said(released);
  auto counted = calls(*server);
  EXPECT_EQ(counted["evalsha"], 1);
  EXPECT_EQ(counted["eval"], 1);
}

TEST(RedisIndex, HoldsALockAfterItsFirstGrant) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().lock, "shop/report");
  EXPECT_EQ(listed->front().state, LockState::held);
}

TEST(RedisIndex, MayBeForbidden) {
  const auto server = RedisServer::start();
  redis_command(server->port(),
                {"ACL", "SETUSER", "jobs", "on", "nopass", "~cronlatch:{*", "+@all"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.username = "jobs";
  RedisProgram run(spec);
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  EXPECT_EQ(run(run.program.release(granted_in(reply)->fence)), Reply(Released{}));
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code, Code::acl);
}

TEST(RedisLockStats, ListsTheOthersBesideALockThatSomebodyHasSpoilt) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  for (const char* lock : {"a", "b", "c", "d"}) {
    Acquire request = run.program.acquire();
    request.lock = lock;
    ASSERT_NE(granted_in(run(request)), nullptr);
  }
  redis_command(server->port(), {"HSET", "cronlatch:{b}", "fence", "soon"});
  redis_command(server->port(), {"SET", "cronlatch:{c}:stats", "text"});

  const auto listed = run.program.backend().list(boot_now() + kPatience);

  ASSERT_TRUE(listed.ok()) << listed.error().message;
  std::string states;
  for (const LockView& view : *listed)
    states += view.lock + ' ' + std::string(name_of(view.state)) + '\n';
  EXPECT_EQ(states, "a held\nb damaged\nc damaged\nd held\n");
  for (const char* lock : {"b", "c"}) {
    const auto shown = run.program.backend().show(lock, boot_now() + kPatience);
    ASSERT_FALSE(shown.ok());
    EXPECT_EQ(shown.error().code, Code::config) << shown.error().message;
  }
}

TEST(RedisIndex, OfDeadNamesCostsNothingAndLosesThemWithTheNextGrant) {
  // given: names that were not entered for 91 days, and texts that are no names
  const auto server = RedisServer::start();
  std::vector<std::string> names{"ZADD", "cronlatch:index"};
  for (int i = 0; i < 80; ++i) {
    names.push_back(std::to_string(1'700'000'000'000'000 + i));
    names.push_back("dead/" + std::to_string(i));
  }
  redis_command(server->port(), names);
  redis_command(server->port(), {"ZADD", "cronlatch:index", "9000000000000000", "no name\xff"});
  RedisProgram run(spec_of(plain_url(*server)));
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  // when
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  // then: not one of them is read
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->size(), 0u);
  EXPECT_EQ(calls(*server)["hgetall"], 0);
  // when
  ASSERT_NE(granted_in(run(run.program.acquire())), nullptr);
  // then
  wait_until([&] {
    return redis_command(server->port(), {"ZCARD", "cronlatch:index"}).integer == 2;
  });
  EXPECT_NE(redis_command(server->port(), {"ZSCORE", "cronlatch:index", "shop/report"}).text, "");
}

TEST(RedisLockStats, ListsHundredsOfLocksInOrder) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  for (int i = 0; i < 450; ++i) {
    Acquire request = run.program.acquire();
    request.lock = "many/" + std::to_string(1000 + i);
    ASSERT_NE(granted_in(run(request)), nullptr);
  }
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->size(), 450u);
  EXPECT_EQ(listed->front().lock, "many/1000");
  EXPECT_EQ(listed->back().lock, "many/1449");
}

TEST(RedisLockStats, RevokesALease) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  const auto revoked = run.program.backend().revoke("shop/report", boot_now() + kPatience);
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_TRUE(revoked->was_held);
  EXPECT_EQ(run(run.program.renew(granted_in(reply)->fence)),
            Reply(NotHolder{LostReason::revoked}));
}

TEST(RedisLockStats, GivesUpInTimeOnAPausedServer) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  server->pause();
  const TimePoint start = boot_now();
  const auto shown = run.program.backend().show("shop/report", start + Millis(200));
  EXPECT_FALSE(shown.ok());
  EXPECT_GE(boot_now(), start + Millis(200));
  EXPECT_LT(boot_now(), start + kPatience);
  server->resume();
}

TEST(RedisTime, NeverGrantsToWhoHasGivenUp) {
  // given: an open connection to a server that knows the script, and stops
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto warm = run(run.program.acquire());
  ASSERT_NE(granted_in(warm), nullptr) << said(warm);
  const std::uint64_t fence = granted_in(warm)->fence;
  ASSERT_EQ(run(run.program.release(fence)), Reply(Released{}));
  run.program.claim().attempt = 2;
  redis_command(server->port(), {"CONFIG", "RESETSTAT"});
  server->pause();
  // when: the request is sent, given up, and reaches the server afterwards
  const auto reply = run(run.hasty_acquire());
  EXPECT_FALSE(down_of(reply).unsent);
  server->resume();
  wait_until([&] { return calls(*server)["evalsha"] == 1; });
  // then
  const auto view = run.program.backend().show("shop/report", boot_now() + kPatience);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_EQ(view->state, LockState::free);
  EXPECT_EQ(view->fence, fence);
}

TEST(RedisTime, IsUnsentWhenTheServerNeverGreeted) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  server->pause();
  const auto reply = run(run.hasty_acquire());
  expect_down(reply, {Code::unreachable, true, "did not answer in time"});
  EXPECT_TRUE(down_of(reply).unsent);
  server->resume();
  const auto again = run(run.program.acquire());
  EXPECT_NE(granted_in(again), nullptr) << said(again);
}

TEST(RedisTime, DatesALeaseFromBeforeTheQuestion) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const TimePoint before = boot_now();
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  const auto kept = run(run.program.renew(granted_in(reply)->fence));
  ASSERT_TRUE(std::holds_alternative<Renewed>(*kept)) << said(kept);
  EXPECT_GE(granted_in(reply)->sent_at, before);
  EXPECT_GT(std::get<Renewed>(*kept).sent_at, granted_in(reply)->sent_at);
  EXPECT_LE(std::get<Renewed>(*kept).sent_at, boot_now());
}

TEST(RedisOutage, IsNoticedWhenTheServerIsKilledAndOverWhenItIsBack) {
  const auto server = RedisServer::start({"--appendonly", "yes", "--appendfsync", "always"});
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  server->kill_now();
  const auto lost = run(run.program.renew(granted_in(reply)->fence));
  EXPECT_TRUE(down_of(lost).transient) << said(lost);
  server->restart();
  std::optional<Reply> kept;
  wait_until([&] {  // it answers LOADING first
    kept = run(run.program.renew(granted_in(reply)->fence));
    return down_in(kept) == nullptr;
  });
  EXPECT_TRUE(std::holds_alternative<Renewed>(*kept)) << said(kept);
}

TEST(RedisOutage, OfAnIdleConnectionIsHealedBeforeTheNextQuestion) {
  const auto server = RedisServer::start();
  RedisProgram run(spec_of(plain_url(*server)));
  const auto reply = run(run.program.acquire());
  ASSERT_NE(granted_in(reply), nullptr) << said(reply);
  redis_command(server->port(), {"CLIENT", "KILL", "TYPE", "normal"});
  const auto kept = run(run.program.renew(granted_in(reply)->fence));
  EXPECT_TRUE(std::holds_alternative<Renewed>(*kept)) << said(kept);
}

TEST(RedisRefusal, NamesAMissingPassword) {
  const auto server = RedisServer::start({"--requirepass", "open-sesame"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::auth, false, "requires a password"});
}

TEST(RedisRefusal, NamesAWrongPassword) {
  const auto server = RedisServer::start({"--requirepass", "open-sesame"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.password = Secret("wrong-canary");
  RedisProgram run(spec);
  const auto reply = run(run.program.acquire());
  expect_down(reply, {Code::auth, false, "refused the user name or the password"});
  EXPECT_THAT(said(reply), Not(HasSubstr("canary")));
}

TEST(RedisRefusal, NamesTheCommandThatAUserMayNotUse) {
  const auto server = RedisServer::start();
  redis_command(server->port(), {"ACL", "SETUSER", "jobs", "on", "nopass", "~*", "+@all", "-eval"});
  redis_command(server->port(),
                {"ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@all", "-hset"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.username = "jobs";
  RedisProgram run(spec);
  expect_down(run(run.program.acquire()), {Code::acl, false, "eval"});
  spec.username = "reader";
  RedisProgram other(spec);
  expect_down(other(other.program.acquire()),
              {Code::acl, false, "may not run HSET on cronlatch:{shop/report}"});
  EXPECT_EQ(redis_command(server->port(), {"DBSIZE"}).integer, 0);
}

TEST(RedisRefusal, NamesTheKeysThatAUserMayNotUse) {
  const auto server = RedisServer::start();
  redis_command(server->port(), {"ACL", "SETUSER", "jobs", "on", "nopass", "~other:*", "+@all"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.username = "jobs";
  RedisProgram run(spec);
  expect_down(
      run(run.program.acquire()),
      {Code::acl, false, "(EVALSHA on cronlatch:{shop/report} or another key of the lock)"});
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_FALSE(listed.ok());
  EXPECT_THAT(listed.error().message, HasSubstr("(ZRANGE on cronlatch:index)"));
}

TEST(RedisRefusal, NamesAFullServer) {
  const auto server = RedisServer::start({"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::unreachable, true, "out of memory"});
}

TEST(RedisRefusal, NamesAReplica) {
  const auto server =
      RedisServer::start({"--replicaof", "127.0.0.1 " + std::to_string(free_port())});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::unreachable, true, "read-only replica"});
}

TEST(RedisRefusal, NamesAReplicaThatHasLostItsMaster) {
  const auto server = RedisServer::start({"--replicaof", "127.0.0.1 " + std::to_string(free_port()),
                                          "--replica-serve-stale-data", "no"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::unreachable, true, "without a connection to its master"});
}

TEST(RedisRefusal, NamesMissingReplicas) {
  const auto server = RedisServer::start({"--min-replicas-to-write", "1"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::unreachable, true, "too few connected replicas"});
}

TEST(RedisRefusal, NamesAForeignKey) {
  const auto server = RedisServer::start();
  redis_command(server->port(), {"SET", "cronlatch:{shop/report}", "somebody else's"});
  RedisProgram run(spec_of(plain_url(*server)));
  const Unavailable down = down_of(run(run.program.acquire()));
  EXPECT_EQ(down.error.code, Code::config) << down.error.message;
  EXPECT_FALSE(down.transient);
  EXPECT_FALSE(run.program.backend().show("shop/report", boot_now() + kPatience).ok());
}

TEST(RedisRefusal, NamesAServerThatCannotSave) {
  const auto server = RedisServer::start({"--save", "3600 1"});
  std::filesystem::remove_all(server->dir());
  RedisClient client(server->port());
  client({"SET", "a", "b"});
  client({"BGSAVE"});
  wait_until([&] {
    return client({"INFO", "persistence"}).text.find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  });
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::unreachable, true, "cannot save"});
}

TEST(RedisRefusal, NamesAServerThatIsLoading) {
  // given: a server that takes a tenth of a second for each of its keys when it starts again
  const auto server = RedisServer::start(
      {"--key-load-delay", "100000", "--loading-process-events-interval-bytes", "1024"});
  RedisClient client(server->port());
  for (int i = 0; i < 100; ++i)
    client({"SET", "key" + std::to_string(i), std::string(2'000, static_cast<char>('a' + i % 26))});
  client({"CONFIG", "SET", "rdbcompression", "no"});
  client({"SAVE"});
  server->restart();
  // when, then
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::unreachable, true, "still loading"});
}

TEST(RedisRefusal, NamesAServerThatIsBusy) {
  const auto server = RedisServer::start({"--busy-reply-threshold", "10"});
  std::thread script([port = server->port()] {
    redis_command(port, {"EVAL", "while true do end", "0"});
  });
  wait_until([&] { return redis_command(server->port(), {"PING"}).text.starts_with("BUSY"); });
  RedisProgram run(spec_of(plain_url(*server)));
  expect_down(run(run.program.acquire()), {Code::unreachable, true, "busy with a script"});
  redis_command(server->port(), {"SCRIPT", "KILL"});
  script.join();
}

}  // namespace
}  // namespace cronlatch::testing
