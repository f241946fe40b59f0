// SPDX-License-Identifier: Apache-2.0
// A gated command that starts cronlatch itself.
#include <algorithm>
#include <csignal>
#include <fstream>

#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class NestedRun : public Gated {
 protected:
  // A run of lock `name` around `command`.
  Words around(const Words& command, const std::string& name, const Words& options = {}) const {
    Words argv = {binary(), "run", "--lock", name, "--store", store};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
  }
  Words innermost() const { return {talking_child(), "say", "inner"}; }
  std::string other_store() const { return "file://" + dir.path("other-locks"); }
};

TEST_F(NestedRun, OfTheSameLockIsRefused) {
  // Given
  Program program({.argv = around(around(innermost(), "a"), "a")});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 78) << program.err();
  EXPECT_EQ(program.out(), "");
  EXPECT_THAT(program.err(), HasSubstr("is held by an outer run of this one"));
}

TEST_F(NestedRun, OfTheSameLockRunsInAProcessThatOutlivedTheOuterRun) {
  // Given: it waits until the outer run has ended
  const std::string ended = dir.path("ended");
  const std::string ran = dir.path("ran");
  std::string line = "while [ ! -e " + ended + " ]; do sleep 0.02; done; exec";
  for (const std::string& word : around({"/bin/touch", ran}, "a")) line += " '" + word + "'";
  Program program({.argv = around({"/bin/sh", "-c", "(" + line + ") >/dev/null 2>&1 & exit 0"}, "a",
                                  {"--leftovers=leave"})});
  ASSERT_EQ(program.exit_code(), 0) << program.err();
  // When
  std::ofstream(ended).flush();
  // Then
  EXPECT_TRUE(eventually([&] { return exists(ran); })) << program.err();
}

// A child of the command has inherited the file's lock.
TEST_F(NestedRun, OfTheSameLockIsRefusedAfterTheWrapperWasKilled) {
  // Given
  const std::string killed = dir.path("killed");
  const std::string code = dir.path("code");
  std::string line = "echo up; while [ ! -e " + killed + " ]; do sleep 0.02; done; timeout 20";
  for (const std::string& word : around({"/bin/true"}, "a", {"--on-busy=wait"}))
    line += " '" + word + "'";
  line += "; echo $? >" + code + ".new; mv " + code + ".new " + code;
  Program program(
      {.argv = around({"/bin/sh", "-c", "(" + line + ") & wait"}, "a", {"--guardian=off"})});
  ASSERT_TRUE(program.says("up")) << program.err();
  // When
  program.signal(SIGKILL);
  std::ofstream(killed).flush();
  // Then
  ASSERT_TRUE(eventually([&] { return exists(code); })) << program.err();
  EXPECT_EQ(read_file(code), "78\n") << program.err();
}

TEST_F(NestedRun, OfTheSameLockIsRefusedWhereProcHidesTheOuterRun) {
  if (::geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can mount";
  // Given
  const auto redis = RedisServer::start();
  store = "redis://127.0.0.1:" + std::to_string(redis->port());
  std::string line = "exec setpriv --reuid 65534 --clear-groups --";
  for (const std::string& word : around(innermost(), "a")) line += " '" + word + "'";
  Words argv = {"/usr/bin/unshare",
                "-m",
                "/bin/sh",
                "-c",
                "mount -t proc -o hidepid=2 proc /proc && exec \"$@\"",
                "sh"};
  const Words outer = around({"/bin/sh", "-c", line}, "a");
  argv.insert(argv.end(), outer.begin(), outer.end());
  Program program({.argv = argv});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 78) << program.err();
  EXPECT_EQ(program.out(), "");
}

TEST_F(NestedRun, OfAnotherLockRuns) {
  // Given
  Program program({.argv = around(around(innermost(), "b"), "a")});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 0) << program.err();
  EXPECT_EQ(program.out(), "inner\n");
}

TEST_F(NestedRun, OfALockOfAnOuterRunIsRefused) {
  // Given
  Program program({.argv = around(around(around(innermost(), "a"), "b"), "a")});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 78) << program.err();
  EXPECT_EQ(program.out(), "");
}

TEST_F(NestedRun, OfTheSameNameInAnotherStoreRuns) {
  // Given
  Words inner = around(innermost(), "a");
  std::replace(inner.begin(), inner.end(), store, other_store());
  Program program({.argv = around(inner, "a")});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 0) << program.err();
  EXPECT_EQ(program.out(), "inner\n");
}

TEST_F(NestedRun, OfALockOfAnOuterRunIsRefusedThroughIsolatedRuns) {
  // Given
  const Words isolated = {"--isolated"};
  Program program(
      {.argv = around(around(around(innermost(), "a", isolated), "b", isolated), "a", isolated)});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 78) << program.err();
}

TEST_F(NestedRun, InASkipCommandStillHasTheLocksOfItsOuterRuns) {
  // Given the lock "b" is busy
  Program holder({.argv = around({talking_child(), "say", "holding", "await", go()}, "b")});
  ASSERT_TRUE(holder.says("holding"));
  std::string json = "[";
  for (const std::string& word : around(innermost(), "a"))
    json += (json.size() == 1 ? "\"" : ", \"") + word + "\"";
  Program program({.argv = around(around(innermost(), "b", {"--skip-command", json + "]"}), "a")});
  // When
  const auto code = program.exit_code();
  touch(go());
  // Then
  EXPECT_EQ(code, 0);
  EXPECT_EQ(program.out(), "");
  EXPECT_THAT(program.err(), HasSubstr("exit code 78"));
  EXPECT_EQ(holder.exit_code(), 0);
}

TEST_F(NestedRun, KeepsTheMeaningOfTheLocksName) {
  // Given
  Program program(
      {.argv =
           around(around({talking_child(), "env", "CRONLATCH_LOCK_NAME", "env", "_CRONLATCH"}, "b"),
                  "a")});
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 0) << program.err();
  EXPECT_EQ(count(program.out(), "env CRONLATCH_LOCK_NAME=b\n"), 1u);
  EXPECT_EQ(count(program.out(), "env CRONLATCH_LOCK_NAME="), 1u);
  EXPECT_EQ(count(program.out(), "env _CRONLATCH_HELD="), 1u);
}

}  // namespace
}  // namespace cronlatch::testing
