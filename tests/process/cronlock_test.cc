// SPDX-License-Identifier: Apache-2.0
// The program as cronlock and golock: mutual exclusion with a double of each program on the same
// key, in both directions, and exit codes.
#include <fstream>

#include "gated.h"
#include "support/source_dir.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string double_of(const std::string& program) {
  return source_dir() + "/tests/doubles/" + program;
}

class SharesAKey : public ::testing::Test {
 protected:
  std::string port() const { return std::to_string(redis->port()); }
  Words environment(const Words& more = {}) const {
    Words all = {"PATH=/usr/bin:/bin", "CRONLOCK_HOST=127.0.0.1", "CRONLOCK_PORT=" + port(),
                 "CRONLOCK_GRACE=0", "CRONLOCK_CONFIG=" + config};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string wait_for_go() const {
    return "until [ -e '" + go + "' ] || [ ! -e '" + dir.path() + "' ]; do sleep 0.01; done";
  }
  Words until_go() const { return {"/bin/sh", "-c", "echo started; " + wait_for_go()}; }
  bool key_exists(const std::string& key) { return client({"EXISTS", key}).integer == 1; }
  void write_config(const std::string& text) { std::ofstream(config) << text; }

  SharesAKey() { write_config(""); }
  ScratchDir dir;
  std::unique_ptr<RedisServer> redis = RedisServer::start();
  RedisClient client{redis->port()};
  std::string go = dir.path("go");
  std::string config = dir.path("cronlock.conf");
};

class AsCronlock : public SharesAKey, public ::testing::WithParamInterface<std::string> {
 protected:
  ProgramSpec ours(const Words& command, const Words& more = {}) const {
    ProgramSpec spec{.argv = {binary()}, .env = environment(more)};
    spec.name = "/usr/local/bin/" + GetParam();
    spec.argv.insert(spec.argv.end(), command.begin(), command.end());
    return spec;
  }
  ProgramSpec theirs(const Words& command, const Words& more = {}) const {
    ProgramSpec spec{.argv = {double_of(GetParam())}, .env = environment(more)};
    spec.argv.insert(spec.argv.end(), command.begin(), command.end());
    return spec;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, AsCronlock, ::testing::Values("cronlock", "golock"),
                         [](const auto& program) { return program.param; });

TEST_P(AsCronlock, RunsTheCommandAndReturnsItsExitCode) {
  for (const int code : {0, 1, 7, 199}) {
    Program program(ours({"/bin/sh", "-c", "echo out; exit " + std::to_string(code)}));
    EXPECT_EQ(program.exit_code(), code) << program.err();
    EXPECT_EQ(program.out(), "out\n");
    EXPECT_EQ(program.err(), "");
  }
  Program killed(ours({"/bin/sh", "-c", "kill -9 $$"}));
  EXPECT_EQ(killed.exit_code(), 137);
}

// Without CRONLOCK_KEY: the name of the key is derived from the same command.
TEST_P(AsCronlock, ExcludesTheOtherProgramAndReleasesItsKey) {
  Program holder(ours(until_go()));
  ASSERT_TRUE(holder.says("started"));
  EXPECT_EQ(Program(theirs(until_go())).exit_code(), 200);
  EXPECT_EQ(Program(ours(until_go())).exit_code(), 200);

  touch(go);
  EXPECT_EQ(holder.exit_code(), 0);
  Program next(theirs(until_go()));
  EXPECT_EQ(next.exit_code(), 0) << next.err();
  EXPECT_EQ(next.out(), "started\n");
}

TEST_P(AsCronlock, IsExcludedByTheOtherProgramUntilItsKeyIsGone) {
  Program holder(theirs(until_go(), {"CRONLOCK_KEY=k"}));
  ASSERT_TRUE(holder.says("started"));
  Program excluded(ours({"/bin/echo", "ran"}, {"CRONLOCK_KEY=k", "CRONLOCK_VERBOSE=yes"}));
  EXPECT_EQ(excluded.exit_code(), 200);
  EXPECT_EQ(excluded.out(), "");
  EXPECT_THAT(excluded.err(), HasSubstr("held by another program (cronlock key)"));

  touch(go);
  EXPECT_EQ(holder.exit_code(), 0);
  EXPECT_TRUE(eventually([&] {
    return Program(ours({"/bin/true"}, {"CRONLOCK_KEY=k"})).exit_code() == 0;
  })) << "its grace time is one second";
}

TEST_P(AsCronlock, ACrashBlocksTheKeyForOneLease) {
  Program holder(ours({"/bin/sh", "-c", "echo pid=$$; exec sleep 1000"},
                      {"CRONLOCK_KEY=k", "CRONLOCK_RELEASE=5"}));
  const pid_t command = holder.pid_after("pid=");
  holder.signal(SIGKILL);
  kill(command, SIGKILL);
  EXPECT_EQ(Program(theirs({"/bin/true"}, {"CRONLOCK_KEY=k"})).exit_code(), 200);
  EXPECT_TRUE(eventually([&] {
    return Program(theirs({"/bin/true"}, {"CRONLOCK_KEY=k"})).exit_code() == 0;
  })) << "by the double, which knows nothing of the lease";
}

TEST_P(AsCronlock, ARunThatLostItsKeyIsStoppedAndTheOtherProgramContinues) {
  Program holder(ours({"/bin/sh", "-c", "echo started; exec sleep 1000"},
                      {"CRONLOCK_KEY=k", "CRONLOCK_RELEASE=5"}));
  ASSERT_TRUE(holder.says("started"));
  EXPECT_EQ(Program(theirs({"/bin/true"}, {"CRONLOCK_KEY=k", "CRONLOCK_RESET=yes"})).exit_code(),
            200);
  Program other(theirs(until_go(), {"CRONLOCK_KEY=k"}));
  ASSERT_TRUE(other.says("started"));

  EXPECT_EQ(holder.exit_code(), 201);
  EXPECT_THAT(holder.err(), HasSubstr("is lost: taken"));
  EXPECT_TRUE(key_exists("cronlock.k"));
  touch(go);
  EXPECT_EQ(other.exit_code(), 0);
}

TEST_P(AsCronlock, KeepsTheKeyForTheGraceTime) {
  EXPECT_EQ(Program(ours({"/bin/true"}, {"CRONLOCK_KEY=k", "CRONLOCK_GRACE=30"})).exit_code(), 0);
  EXPECT_EQ(Program(theirs({"/bin/true"}, {"CRONLOCK_KEY=k"})).exit_code(), 200);
  const std::int64_t life = client({"TTL", "cronlock.k"}).integer;
  EXPECT_GT(life, 0);
  EXPECT_LE(life, 30);
}

TEST_P(AsCronlock, ResetRemovesTheKeyOfTheOtherProgramAndAlwaysExitsWith200) {
  client({"SET", "cronlock.k", "9999999999"});
  EXPECT_EQ(Program(ours({"/bin/true"}, {"CRONLOCK_KEY=k"})).exit_code(), 200);
  for (int i = 0; i < 2; ++i) {
    Program reset(ours({"/bin/echo", "ran"}, {"CRONLOCK_KEY=k", "CRONLOCK_RESET=yes"}));
    EXPECT_EQ(reset.exit_code(), 200);
    EXPECT_EQ(reset.out(), "");
    EXPECT_FALSE(key_exists("cronlock.k"));
  }
  EXPECT_EQ(Program(ours({"/bin/true"}, {"CRONLOCK_KEY=k"})).exit_code(), 0);
}

TEST_P(AsCronlock, ALimitOfTheRunIs202) {
  Program limited(ours({"/bin/sleep", "1000"}, {"CRONLOCK_TIMEOUT=1"}));
  EXPECT_EQ(limited.exit_code(), 202);
}

TEST_P(AsCronlock, EveryErrorIsOneLineAnd201) {
  client({"LPUSH", "cronlock.list", "1"});
  const Words reset = {"CRONLOCK_KEY=list", "CRONLOCK_RESET=yes"};
  client({"SET", "cronlock.text", "soon"});
  const Words no_server = {"CRONLOCK_PORT=1", "CRONLOCK_RECONNECT_ATTEMPTS=0",
                           "CRONLOCK_REDIS_TIMEOUT=1"};
  const std::pair<Words, const char*> cases[] = {
      {{"CRONLOCK_PORT=x"}, "CRONLOCK_PORT: \"x\" is not valid"},
      {{"CRONLOCK_KEY=a b"}, "contains a blank"},
      {{"CRONLOCK_KEY=list"}, ": cronlock.list ("},
      {reset, ": cronlock.list ("},
      {{"CRONLOCK_KEY=text"}, ": cronlock.text ("},
      {no_server, "cannot connect to 127.0.0.1:1"}};
  for (const auto& [more, message] : cases) {
    Program program(ours({"/bin/echo", "ran"}, more));
    EXPECT_EQ(program.exit_code(), 201) << message;
    EXPECT_EQ(program.out(), "");
    EXPECT_THAT(program.err(), HasSubstr(message));
  }
  EXPECT_EQ(client({"GET", "cronlock.text"}).text, "soon");
  EXPECT_EQ(client({"LLEN", "cronlock.list"}).integer, 1);
}

TEST_P(AsCronlock, AMissingCommandLeavesNothingHeld) {
  EXPECT_EQ(Program(ours({"/no/such/command"})).exit_code(), GetParam() == "golock" ? 1 : 127);
  EXPECT_EQ(client({"DBSIZE"}).integer, 0);
}

TEST_P(AsCronlock, UsesThePasswordAndPrintsItNowhere) {
  client({"CONFIG", "SET", "requirepass", "sesame"});
  Program run(ours({"/bin/echo", "ran"}, {"CRONLOCK_AUTH=sesame"}));
  EXPECT_EQ(run.exit_code(), 0) << run.err();
  EXPECT_EQ(run.out(), "ran\n");
  Program explain(ours({"--explain", "/bin/true"}, {"CRONLOCK_AUTH=sesame"}));
  EXPECT_EQ(count(explain.out(), "sesame"), 0U);
  Program refused(ours({"/bin/echo", "ran"}, {"CRONLOCK_AUTH=wrong"}));
  EXPECT_EQ(refused.exit_code(), 201);
  EXPECT_EQ(refused.out(), "");
  EXPECT_THAT(refused.err(), HasSubstr("refused the user name or the password"));
}

TEST_P(AsCronlock, ExplainPrintsACommandLineThatDoesTheSame) {
  const Words command = {"/bin/sh", "-c", "echo \"ran $0\"; exit 5", "it's"};
  Words explained = {"--explain"};
  explained.insert(explained.end(), command.begin(), command.end());
  Program explain(ours(explained));
  ASSERT_EQ(explain.exit_code(), 0);
  EXPECT_THAT(explain.out(), StartsWith("cronlatch run --isolated "));
  EXPECT_EQ(client({"DBSIZE"}).integer, 0) << "it runs nothing";

  const std::string link = dir.path("cronlatch");
  ASSERT_EQ(symlink(binary().c_str(), link.c_str()), 0);
  Program native(
      {.argv = {"/bin/sh", "-c", explain.out()}, .env = {"PATH=" + dir.path() + ":/usr/bin:/bin"}});
  EXPECT_EQ(native.exit_code(), 5);
  EXPECT_EQ(native.out(), "ran it's\n");
}

TEST_P(AsCronlock, ExplainReadsAPasswordFromTheSameFile) {
  if (GetParam() == "golock") GTEST_SKIP() << "it has no configuration file";
  client({"CONFIG", "SET", "requirepass", "sesame"});
  const std::string file = dir.path("cron lock.conf");
  std::ofstream(file) << "CRONLOCK_AUTH='default sesame'\n";
  Program explain(ours({"--explain", "/bin/echo", "ran"}, {"CRONLOCK_CONFIG=" + file}));
  EXPECT_EQ(explain.exit_code(), 0) << explain.err();
  EXPECT_EQ(count(explain.out(), "sesame"), 0U);
  const std::string link = dir.path("cronlatch");
  ASSERT_EQ(symlink(binary().c_str(), link.c_str()), 0);
  Program native(
      {.argv = {"/bin/sh", "-c", explain.out()}, .env = {"PATH=" + dir.path() + ":/usr/bin:/bin"}});
  EXPECT_EQ(native.exit_code(), 0) << explain.out() << native.err();
  EXPECT_EQ(native.out(), "ran\n");
}

TEST_P(AsCronlock, VariablesOfCronlatchDoNotChangeIt) {
  Program program(
      ours({"/bin/echo", "ran"}, {"CRONLATCH_STORE=redis://192.0.2.1",
                                  "CRONLATCH_CONFIG=/no/such/file", "CRONLATCH_PASSWORD=wrong"}));
  EXPECT_EQ(program.exit_code(), 0) << program.err();
}

using CronlockFile = SharesAKey;

TEST_F(CronlockFile, IsReadAndNotExecuted) {
  write_config("CRONLOCK_KEY='from file' \n");
  ProgramSpec spec{.argv = {binary(), "as", "cronlock", "/bin/true"}, .env = environment()};
  Program blank(spec);
  EXPECT_EQ(blank.exit_code(), 201);
  EXPECT_THAT(blank.err(), HasSubstr("contains a blank"));

  write_config("CRONLOCK_KEY=k\nCRONLOCK_PREFIX=$(touch " + dir.path("executed") + ")x\n");
  Program shell(spec);
  EXPECT_EQ(shell.exit_code(), 201);
  EXPECT_THAT(shell.err(), HasSubstr(config + ":2: \"CRONLOCK_PREFIX=$(touch"));
  EXPECT_FALSE(exists(dir.path("executed")));
}

// ---- redlock, and what the options do with other stores ----

class SharesARedlockKey : public SharesAKey {
 protected:
  ProgramSpec ours(const Words& command, const Words& options = {}) const {
    Words argv = {binary(),       "run",     "--store",       store,
                  "--key-format", "redlock", "--foreign-key", "locks:report"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.emplace_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    return {.argv = argv};
  }
  ProgramSpec theirs(const Words& command) const {
    Words argv = {double_of("redlock"), "127.0.0.1:" + port(), "locks:report"};
    argv.insert(argv.end(), command.begin(), command.end());
    return {.argv = argv, .env = {"PATH=/usr/bin:/bin"}};
  }
  std::string store = "redis://127.0.0.1:" + port();
};

TEST_F(SharesARedlockKey, ExcludesALibraryAndIsExcludedByIt) {
  Program holder(ours(until_go()));
  ASSERT_TRUE(holder.says("started"));
  EXPECT_EQ(Program(theirs({"/bin/true"})).exit_code(), 9);
  touch(go);
  EXPECT_EQ(holder.exit_code(), 0);
  unlink(go.c_str());

  Program library(theirs(until_go()));
  ASSERT_TRUE(library.says("started"));
  Program busy(ours({"/bin/true"}, {"--on-busy", "fail"}));
  EXPECT_EQ(busy.exit_code(), 75);
  EXPECT_THAT(busy.err(), HasSubstr("held by another program (redlock key), lease until "));
  Program waiting(ours({"/bin/echo", "ran"}, {"--on-busy", "wait"}));
  ASSERT_TRUE(waiting.complains("waiting for lock"));
  touch(go);
  EXPECT_EQ(library.exit_code(), 0);
  EXPECT_EQ(waiting.exit_code(), 0);
  EXPECT_FALSE(key_exists("locks:report"));
}

TEST_F(SharesARedlockKey, ExplainAndShowNameTheOtherProgram) {
  client({"SET", "locks:report", "token", "PX", "60000"});
  Program explain(
      {.argv = {binary(), "explain", "--store", "redis://127.0.0.1:" + port(), "--key-format",
                "redlock", "--foreign-key", "locks:report", "--", "/bin/true"}});
  EXPECT_EQ(explain.exit_code(), 0) << explain.err();
  EXPECT_THAT(explain.out(), HasSubstr("held by another program (redlock key) until "));
  Program show({.argv = {binary(), "show", "--store", "redis://127.0.0.1:" + port(), "-o", "json",
                         "_redlock/locks_3areport"}});
  EXPECT_EQ(show.exit_code(), 0) << show.err();
  EXPECT_THAT(show.out(), HasSubstr("\"state\":\"held\""));
  EXPECT_THAT(show.out(), HasSubstr("another program (redlock key)"));
  Program release({.argv = {binary(), "release", "--store", "redis://127.0.0.1:" + port(),
                            "_redlock/locks_3areport"}});
  EXPECT_EQ(release.exit_code(), 64) << release.err();
  EXPECT_THAT(release.err(), HasSubstr("(redlock key), whose command cannot be stopped"));
}

TEST_F(SharesARedlockKey, AnotherStoreIsRefusedAndNothingIsStarted) {
  for (const std::string& other :
       {"file://" + dir.path("locks"), std::string("postgres://u@127.0.0.1/d")}) {
    store = other;
    Program refused(ours({"/bin/echo", "ran"}));
    EXPECT_EQ(refused.exit_code(), 78);
    EXPECT_EQ(refused.out(), "");
    EXPECT_THAT(refused.err(), HasSubstr("key-format: the store is not a Redis store"));
  }
  EXPECT_FALSE(exists(dir.path("locks")));
}

TEST_F(SharesARedlockKey, AMissingRightIs77WithTheKey) {
  client({"ACL", "SETUSER", "cron", "on", ">pw", "~cronlatch:*", "+@all"});
  ProgramSpec spec = ours({"/bin/echo", "ran"}, {"--redis-username", "cron"});
  spec.env = {"PATH=/usr/bin:/bin", "CRONLATCH_PASSWORD=pw"};
  Program refused(spec);
  EXPECT_EQ(refused.exit_code(), 77);
  EXPECT_EQ(refused.out(), "");
  EXPECT_THAT(refused.err(), HasSubstr("locks:report"));
  client({"ACL", "SETUSER", "cron", "~locks:*", "-del"});
  Program no_del(spec);
  EXPECT_EQ(no_del.exit_code(), 77);
  EXPECT_THAT(no_del.err(), HasSubstr("DEL on locks:report"));
  EXPECT_EQ(client({"DBSIZE"}).integer, 0);
}

}  // namespace
}  // namespace cronlatch::testing
