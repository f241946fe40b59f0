// SPDX-License-Identifier: Apache-2.0
// Runs with the option strict: exit codes and outcomes, with a real Redis and a real replica.
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class StrictRun : public GatedByRedis {
 protected:
  static Words strict(const Words& more = {}) {
    Words words = {"--strict", "--ttl", "5s", "--max-ttl", "5s"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string init() const {
    Program program({.argv = {binary(), "store", "init", "--store", store}});
    EXPECT_EQ(program.exit_code(), 0) << program.err();
    return program.out();
  }
  std::string outcome() const { return read_file(dir.path("outcome")); }
  Words with_outcome(const Words& more = {}) const {
    Words words = strict({"--outcome-file", dir.path("outcome")});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  bool is_acknowledged() const {
    RedisClient client(redis->port());
    client({"INCR", "for-the-replica"});
    return client({"WAIT", "1", "200"}).integer == 1;
  }
  // The first write can be part of the synchronization.
  void start_replica() {
    redis_command(redis->port(), {"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
    replica = RedisServer::start({"--replicaof", "127.0.0.1", std::to_string(redis->port())});
    ASSERT_TRUE(eventually([&] { return is_acknowledged() && is_acknowledged(); }));
  }
  std::unique_ptr<RedisServer> replica;
};

// 5 s, 1 % and 0.7 s.
TEST_F(StrictRun, WaitsForTheEndOfAQuarantine) {
  const auto start = std::chrono::steady_clock::now();
  Program first(run(strict(), {"touch", file(), "exit", "0"}));
  EXPECT_EQ(first.exit_code(), 0) << first.err();
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(5'750));
  EXPECT_THAT(first.err(), HasSubstr("may have lost grants in a failover or a restart"));
  Program second(run(strict({"--on-busy", "fail"}), {"exit", "0"}));
  EXPECT_EQ(second.exit_code(), 0) << second.err();
}

TEST_F(StrictRun, ExitsWith69WhenTheQuarantineIsLongerThanTheWait) {
  for (const char* policy : {"fail", "wait", "run"}) {
    Program program(run(with_outcome({"--wait-timeout", "300ms", "--on-store-down", policy,
                                      "--skip-command", R"(["touch", ")" + go() + R"("])"}),
                        {"touch", file(), "exit", "0"}));
    EXPECT_EQ(program.exit_code(), 69) << policy << program.err();
    EXPECT_FALSE(exists(file())) << policy;
    EXPECT_FALSE(exists(go())) << policy;
    EXPECT_THAT(outcome(), HasSubstr(R"("outcome":"store_down","reason":"quarantine")"));
  }
  Program explain({.argv = {binary(), "explain", "--lock", "job", "--store", store, "--strict",
                            "--wait-timeout", "300ms", "-o", "json"}});
  EXPECT_EQ(explain.exit_code(), 0) << explain.err();
  EXPECT_THAT(explain.out(), HasSubstr(R"("exit_code":69)"));
  EXPECT_THAT(explain.out(), HasSubstr(R"("quarantine_ms":)"));
  Program ls({.argv = {binary(), "ls", "--store", store, "--strict"}});
  EXPECT_EQ(ls.exit_code(), 0) << ls.err();
  EXPECT_THAT(ls.err(), HasSubstr("quarantine: the store grants no lock for"));
}

TEST_F(StrictRun, StoreInitEndsTheQuarantineOfANewInstallation) {
  EXPECT_THAT(init(), HasSubstr("the first epoch is recorded (cronlatch:epoch)"));
  EXPECT_THAT(init(), HasSubstr("nothing was changed"));
  Program program(run(strict({"--wait-timeout", "1s"}), {"exit", "0"}));
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  // when: the data is lost
  redis_command(redis->port(), {"FLUSHALL"});
  Program later(run(strict({"--wait-timeout", "1s"}), {"exit", "0"}));
  EXPECT_EQ(later.exit_code(), 69) << later.err();
}

TEST_F(StrictRun, ExitsWith69WhileAReplicaIsDownAndGivesTheGrantBack) {
  start_replica();
  init();
  replica->kill_now();
  // when
  Program program(run(with_outcome({"--min-replicas", "1", "--connect-timeout", "3s"}),
                      {"touch", file(), "exit", "0"}));
  // then
  EXPECT_EQ(program.exit_code(), 69) << program.err();
  EXPECT_THAT(program.err(), HasSubstr("0 of 1 replica acknowledged the request"));
  EXPECT_THAT(outcome(), HasSubstr(R"("outcome":"store_down","reason":"unreachable")"));
  EXPECT_FALSE(exists(file()));
  EXPECT_EQ(redis_command(redis->port(), {"HGET", "cronlatch:{job}", "state"}).text, "free");
}

// Renewals without an acknowledgement move neither TERM nor KILL.
TEST_F(StrictRun, StopsTheCommandWhenItsReplicaIsDownForTheLease) {
  start_replica();
  init();
  Program holder(run(with_outcome({"--min-replicas", "1", "--renew-every", "500ms"}),
                     {"touch", file(), "await", go()}));
  ASSERT_TRUE(eventually([&] { return exists(file()); })) << holder.err();
  const auto start = std::chrono::steady_clock::now();
  replica->kill_now();
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_THAT(outcome(), HasSubstr(R"("reason":"expired")"));
}

TEST_F(StrictRun, RefusesSettingsThatCannotBeStrictWith78) {
  const auto error_of = [&](const Words& options) {
    Program program(run(options, {"touch", file(), "exit", "0"}));
    EXPECT_EQ(program.exit_code(), 78) << program.err();
    EXPECT_FALSE(exists(file()));
    return program.err();
  };
  EXPECT_THAT(error_of({"--strict", "--ttl", "11m"}),
              HasSubstr("ttl: 11m is above max-ttl, which is 10m"));
  EXPECT_THAT(error_of({"--min-replicas", "1"}), HasSubstr("min-replicas is set without strict"));
  store = "redis+cluster://127.0.0.1:1,127.0.0.1:2";
  EXPECT_THAT(error_of({"--strict"}),
              HasSubstr("strict: a redis+cluster:// store cannot be strict"));
  store = "file://" + dir.path("locks");
  EXPECT_THAT(error_of({"--strict"}), HasSubstr("strict: a file:// store cannot be strict"));
  store = "redis+sentinel://127.0.0.1:1/mymaster";
  EXPECT_THAT(error_of({"--strict"}), HasSubstr("strict: min-replicas is 0"));
}

}  // namespace
}  // namespace cronlatch::testing
