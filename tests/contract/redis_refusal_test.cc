// SPDX-License-Identifier: Apache-2.0
// A real server that refuses a request: full, read-only, busy, or without the rights of the user.
#include <filesystem>
#include <thread>

#include "contract/redis_support.h"
#include "core/lock_json.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedisRefusal, NamesAMissingPassword) {
  const auto server = RedisServer::start({"--requirepass", "open-sesame"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()), {Code::auth, false, "requires a password"});
}

TEST(RedisRefusal, NamesAWrongPassword) {
  const auto server = RedisServer::start({"--requirepass", "open-sesame"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.password = Secret("wrong-canary");
  RedisProgram run(spec);
  const auto reply = run(run.program.acquire());
  expect_unavailable(reply, {Code::auth, false, "refused the user name or the password"});
  EXPECT_THAT(reply_text(reply), Not(HasSubstr("canary")));
}

TEST(RedisRefusal, NamesTheCommandThatAUserMayNotUse) {
  const auto server = RedisServer::start();
  redis_command(server->port(), {"ACL", "SETUSER", "jobs", "on", "nopass", "~*", "+@all", "-eval"});
  redis_command(server->port(),
                {"ACL", "SETUSER", "reader", "on", "nopass", "~*", "+@all", "-hset"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.username = "jobs";
  RedisProgram run(spec);
  expect_unavailable(run(run.program.acquire()), {Code::acl, false, "eval"});
  spec.username = "reader";
  RedisProgram other(spec);
  expect_unavailable(other(other.program.acquire()),
                     {Code::acl, false, "may not run HSET on cronlatch:{shop/report}"});
  EXPECT_EQ(redis_command(server->port(), {"DBSIZE"}).integer, 0);
}

TEST(RedisRefusal, NamesTheKeysThatAUserMayNotUse) {
  const auto server = RedisServer::start();
  redis_command(server->port(), {"ACL", "SETUSER", "jobs", "on", "nopass", "~other:*", "+@all"});
  StoreSpec spec = spec_of(plain_url(*server));
  spec.username = "jobs";
  RedisProgram run(spec);
  expect_unavailable(
      run(run.program.acquire()),
      {Code::acl, false, "(EVALSHA on cronlatch:{shop/report} or another key of the lock)"});
  const auto listed = run.program.backend().list(boot_now() + kPatience);
  ASSERT_FALSE(listed.ok());
  EXPECT_THAT(listed.error().message, HasSubstr("(ZRANGE on cronlatch:index)"));
}

TEST(RedisRefusal, NamesAFullServer) {
  const auto server = RedisServer::start({"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()), {Code::unreachable, true, "out of memory"});
}

TEST(RedisRefusal, NamesAReplica) {
  const auto server = RedisServer::start({"--replicaof", "127.0.0.1", std::to_string(free_port())});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()), {Code::unreachable, true, "read-only replica"});
}

TEST(RedisRefusal, NamesAReplicaWithoutItsMaster) {
  const auto server = RedisServer::start({"--replicaof", "127.0.0.1", std::to_string(free_port()),
                                          "--replica-serve-stale-data", "no"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()),
                     {Code::unreachable, true, "without a connection to its master"});
}

TEST(RedisRefusal, NamesMissingReplicas) {
  const auto server = RedisServer::start({"--min-replicas-to-write", "1"});
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()),
                     {Code::unreachable, true, "too few connected replicas"});
}

TEST(RedisRefusal, NamesAKeyOfAnotherProgram) {
  const auto server = RedisServer::start();
  redis_command(server->port(), {"SET", "cronlatch:{shop/report}", "of another program"});
  RedisProgram run(spec_of(plain_url(*server)));
  const Unavailable down = unavailable_of(run(run.program.acquire()));
  EXPECT_EQ(down.error.code, Code::config) << down.error.message;
  EXPECT_FALSE(down.transient);
  EXPECT_FALSE(run.program.backend().show("shop/report", boot_now() + kPatience).ok());
}

TEST(RedisRefusal, NamesAServerThatCannotSave) {
  const auto server = RedisServer::start({"--save", "3600", "1"});
  std::filesystem::remove_all(server->dir());
  RedisClient client(server->port());
  client({"SET", "a", "b"});
  client({"BGSAVE"});
  wait_until([&] {
    return client({"INFO", "persistence"}).text.find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  });
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()), {Code::unreachable, true, "cannot save"});
}

TEST(RedisRefusal, NamesAServerThatIsLoading) {
  // given: a server that needs 100 ms for each of its keys when it starts again
  // Redis 6.2 answers once after each 2 MiB.
  auto options = RedisServer::if_supported("loading-process-events-interval-bytes", "1024");
  options.insert(options.end(), {"--key-load-delay", "100000"});
  const auto server = RedisServer::start(options);
  RedisClient client(server->port());
  for (int i = 0; i < 100; ++i)
    client(
        {"SET", "key" + std::to_string(i), std::string(100'000, static_cast<char>('a' + i % 26))});
  client({"CONFIG", "SET", "rdbcompression", "no"});
  client({"SAVE"});
  server->restart();
  // when, then
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()), {Code::unreachable, true, "still loading"});
}

TEST(RedisRefusal, NamesAServerThatIsBusy) {
  const auto server = RedisServer::start({"--lua-time-limit", "10"});
  std::thread script([port = server->port()] {
    redis_command(port, {"EVAL", "while true do end", "0"});
  });
  wait_until([&] { return redis_command(server->port(), {"PING"}).text.starts_with("BUSY"); });
  RedisProgram run(spec_of(plain_url(*server)));
  expect_unavailable(run(run.program.acquire()), {Code::unreachable, true, "busy with a script"});
  redis_command(server->port(), {"SCRIPT", "KILL"});
  script.join();
}

}  // namespace
}  // namespace cronlatch::testing
