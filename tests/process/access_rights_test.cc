// SPDX-License-Identifier: Apache-2.0
// What a run needs of its Redis is checked before its command is started, with the real binary: a
// run that could not be released is not begun.
#include <iterator>
#include <sstream>

#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class AccessRights : public GatedByRedis {
 protected:
  // A run whose release marks an identity as done, by a user without these commands.
  ProgramSpec run_without(const Words& commands) {
    Words user{"ACL", "SETUSER", "cron", "reset", "on", ">secret", "~cronlatch:*", "+@all"};
    for (const std::string& command : commands) user.push_back("-" + command);
    EXPECT_FALSE(redis_command(redis->port(), user).is_error());
    store = "redis://cron@127.0.0.1:" + std::to_string(redis->port());
    ProgramSpec spec = run({"--job", "ns/a", "--once-per", "tick"}, {"touch", go(), "exit", "0"});
    spec.env.push_back("CRONLATCH_PASSWORD=secret");
    return spec;
  }
  // What docs/operations.md gives the user of a run, and `more`.
  void allow_only(const std::string& more) {
    std::istringstream words(
        "ACL SETUSER cron reset on >secret ~cronlatch:* -@all +hello +auth +select +time +eval "
        "+evalsha +type +hmget +hset +persist +pexpire +pttl +zadd +zrem +zmscore +zcard "
        "+zrangebyscore +zremrangebyrank " +
        more);
    const Words command{std::istream_iterator<std::string>(words), {}};
    EXPECT_FALSE(redis_command(redis->port(), command).is_error());
  }
  bool scripts_can_read_access_list() {
    const Words script = {"EVAL", "return redis.acl_check_cmd and 1 or 0", "0"};
    return redis_command(redis->port(), script).integer == 1;
  }
  std::int64_t keys() { return redis_command(redis->port(), {"DBSIZE"}).integer; }
};

TEST_F(AccessRights, AMissingCommandEndsWith77AndStartsNothing) {
  for (const auto& [command, name] :
       std::vector<std::pair<std::string, std::string>>{{"zcard", "ZCARD"},
                                                        {"zremrangebyrank", "ZREMRANGEBYRANK"},
                                                        {"hmget", "HMGET"},
                                                        {"pttl", "PTTL"},
                                                        {"zmscore", "ZMSCORE"},
                                                        {"zrangebyscore", "ZRANGEBYSCORE"},
                                                        {"hset", "HSET"},
                                                        {"persist", "PERSIST"},
                                                        {"pexpire", "PEXPIRE"},
                                                        {"zadd", "ZADD"},
                                                        {"zrem", "ZREM"},
                                                        {"type", "TYPE"},
                                                        {"eval", "EVAL"},
                                                        {"evalsha", "evalsha"}}) {
    // A script of Redis 6.2 cannot read the access list, and cannot try EVAL (docs/servers.md).
    if (command == "eval" && !scripts_can_read_access_list()) continue;
    // Given: a server that has the script already, so that only the missing command can stop it
    store = "redis://127.0.0.1:" + std::to_string(redis->port());
    ASSERT_TRUE(lock_is_free());
    redis_command(redis->port(), {"FLUSHALL"});
    // When
    Program program(run_without({command}));
    // Then
    EXPECT_EQ(program.exit_code(), 77) << command << ": " << program.err();
    EXPECT_THAT(program.err(), HasSubstr(name)) << command;
    EXPECT_FALSE(exists(go())) << command;
    EXPECT_EQ(keys(), 0) << command;
  }
}

TEST_F(AccessRights, TheUserOfTheDocumentationMayRunAll) {
  // Given
  allow_only("");
  store = "redis://cron@127.0.0.1:" + std::to_string(redis->port());
  ProgramSpec spec =
      run({"--job", "ns/a", "--once-per", "tick", "--attempt-group", "uid", "--min-hold", "1s"},
          {"touch", go(), "exit", "0"});
  spec.env.push_back("CRONLATCH_PASSWORD=secret");
  // When
  Program program(spec);
  // Then
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  EXPECT_TRUE(exists(go()));
  EXPECT_EQ(redis_command(redis->port(), {"ZCARD", "cronlatch:index"}).integer, 1);
}

TEST_F(AccessRights, TheUserOfTheDocumentationMayReadALock) {
  allow_only("+hgetall +zrange");
  store = "redis://cron@127.0.0.1:" + std::to_string(redis->port());
  for (const Words& reads :
       {Words{"show", "job"}, Words{"explain", "--lock", "job"}, Words{"ls"}}) {
    ProgramSpec spec{.argv = {binary()}, .env = {"CRONLATCH_PASSWORD=secret"}};
    spec.argv.insert(spec.argv.end(), reads.begin(), reads.end());
    spec.argv.insert(spec.argv.end(), {"--store", store});
    Program program(spec);
    EXPECT_EQ(program.exit_code(), 0) << reads[0] << ": " << program.err();
    EXPECT_THAT(program.out(), ::testing::Not(HasSubstr("unknown"))) << reads[0];
  }
}

// The rights of a run do not contain HGETALL, which reads the statistics of a lock.
TEST_F(AccessRights, AMetricsFileWithoutTheRightToReadItIsAWarning) {
  ProgramSpec spec = run_without({"hgetall"});
  spec.argv.insert(spec.argv.begin() + 2, {"--metrics-file", go() + ".prom"});
  Program program(spec);
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_THAT(program.err(), HasSubstr("the metrics lack the lock statistics"));
  EXPECT_THAT(program.err(), HasSubstr("HGETALL"));
}

TEST_F(AccessRights, AForcedReleaseWithoutTheRightToReadDoesNotWait) {
  // Given
  Program holder(run({"--renew-every", "200ms"}, {"say", "holding", "await", go()}));
  ASSERT_TRUE(holder.says("holding"));
  ProgramSpec release{.argv = {binary(), "release", "job", "--force"},
                      .env = run_without({"hgetall"}).env};
  release.argv.insert(release.argv.end(), {"--store", store});
  // When
  const auto began = std::chrono::steady_clock::now();
  Program refused(release);
  // Then
  EXPECT_EQ(refused.exit_code(), 77);
  EXPECT_THAT(refused.err(), HasSubstr("revoked the lease of"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60)) << "one ttl";
  EXPECT_EQ(holder.exit_code(), 79) << holder.err();
}

TEST_F(AccessRights, ADamagedCounterOfTheReleaseEndsWith78AndStartsNothing) {
  for (const std::string counter : {"runs_succeeded", "runs_failed", "released", "hold_ms"}) {
    // Given
    redis_command(redis->port(), {"FLUSHALL"});
    redis_command(redis->port(), {"HSET", "cronlatch:{job}:stats", counter + "|ns/a", "many"});
    // When
    Program program(run({"--job", "ns/a", "--once-per", "tick"}, {"touch", go(), "exit", "0"}));
    // Then
    EXPECT_EQ(program.exit_code(), 78) << program.err();
    EXPECT_THAT(program.err(), HasSubstr("cronlatch:{job}:stats " + counter + "|ns/a"));
    EXPECT_FALSE(exists(go())) << counter;
    EXPECT_EQ(keys(), 1);
  }
}

TEST_F(AccessRights, ACommandThatTheServerDoesNotHaveEndsWith78AndIsNamed) {
  for (const std::string command : {"HSET", "HMGET", "ZMSCORE", "ZCARD", "EVALSHA", "TIME"}) {
    // Given
    redis = RedisServer::start({"--rename-command", command, "other-name"});
    store = "redis://127.0.0.1:" + std::to_string(redis->port());
    // When
    Program program(run({"--job", "ns/a", "--once-per", "tick"}, {"touch", go(), "exit", "0"}));
    // Then
    EXPECT_EQ(program.exit_code(), 78) << program.err();
    EXPECT_THAT(program.err(), HasSubstr("the server does not have the command " + command));
    EXPECT_FALSE(exists(go())) << command;
    EXPECT_EQ(keys(), 0) << command;
  }
}

}  // namespace
}  // namespace cronlatch::testing
