// SPDX-License-Identifier: Apache-2.0
// The program as lockrun, by its name and by `as lockrun`: mutual exclusion with flock(1) on the
// same file, exit codes, and what is written where.
#include <fstream>

#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AsLockrun : public ::testing::TestWithParam<bool> {
 protected:
  // By the name in argv[0], or by the subcommand.
  ProgramSpec lockrun(const Words& words) const {
    ProgramSpec spec;
    spec.argv = {binary()};
    if (GetParam())
      spec.name = "/usr/local/bin/lockrun";
    else
      spec.argv.insert(spec.argv.end(), {"as", "lockrun"});
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    return spec;
  }
  ProgramSpec lockrun(Words flags, const Words& command) const {
    flags.insert(flags.end(), {"--store=" + store, "--lockfile=" + file, "--"});
    flags.insert(flags.end(), command.begin(), command.end());
    return lockrun(flags);
  }
  ProgramSpec flock(const Words& command) const {
    Words words = {"/usr/bin/flock", "--nonblock", "--conflict-exit-code", "9", file};
    words.insert(words.end(), command.begin(), command.end());
    return {.argv = words};
  }
  // Ends also with the test: flock(1) forks, and its child is not killed with it.
  std::string wait_for_go() const {
    return "until [ -e '" + go + "' ] || [ ! -e '" + dir.path() + "' ]; do sleep 0.01; done";
  }
  // A shell that reports its start, and ends when `go` exists.
  Words until_go() const { return {"/bin/sh", "-c", "echo started; " + wait_for_go()}; }

  ScratchDir dir;
  std::string store = "file://" + dir.path("records");
  std::string file = dir.path("the lock");
  std::string go = dir.path("go");
};

INSTANTIATE_TEST_SUITE_P(ByNameAndBySubcommand, AsLockrun, ::testing::Bool());

TEST_P(AsLockrun, RunsTheCommandAndReturnsItsExitCode) {
  for (const int code : {0, 1, 7, 255}) {
    Program program(lockrun({}, {"/bin/sh", "-c", "echo out; exit " + std::to_string(code)}));

    EXPECT_EQ(program.exit_code(), code);
    EXPECT_EQ(program.out(), "out\n");
    EXPECT_EQ(program.err(), "");
  }
  Program killed(lockrun({}, {"/bin/sh", "-c", "kill -9 $$"}));
  EXPECT_EQ(killed.exit_code(), 137);
}

TEST_P(AsLockrun, ExcludesFlockOnItsFile) {
  Program holder(lockrun({}, until_go()));
  ASSERT_TRUE(holder.says("started"));
  Program excluded(flock({"/bin/true"}));

  EXPECT_EQ(excluded.exit_code(), 9);
  touch(go);
  EXPECT_EQ(holder.exit_code(), 0);
  Program next(flock({"/bin/true"}));
  EXPECT_EQ(next.exit_code(), 0);
}

TEST_P(AsLockrun, IsExcludedByFlockOnItsFile) {
  Program holder(flock(until_go()));
  ASSERT_TRUE(holder.says("started"));
  Program excluded(lockrun({}, {"/bin/echo", "ran"}));
  Program quiet(lockrun({"--quiet"}, {"/bin/echo", "ran"}));

  EXPECT_EQ(excluded.exit_code(), 1);
  EXPECT_EQ(excluded.out(), "");
  EXPECT_EQ(excluded.err(), "ERROR: cannot launch /bin/echo - run is locked\n");
  EXPECT_EQ(quiet.exit_code(), 0);
  EXPECT_EQ(quiet.out() + quiet.err(), "");
}

TEST_P(AsLockrun, WaitsForFlockAndThenRuns) {
  Program holder(flock(until_go()));
  ASSERT_TRUE(holder.says("started"));
  Program waiting(lockrun({"--wait", "--verbose"}, {"/bin/echo", "ran"}));
  ASSERT_TRUE(waiting.complains("waiting for lock"));

  touch(go);
  EXPECT_EQ(waiting.exit_code(), 0);
  EXPECT_EQ(waiting.out(), "ran\n");
}

TEST_P(AsLockrun, AWaitWithALimitEndsLikeABusyLock) {
  Program holder(flock(until_go()));
  ASSERT_TRUE(holder.says("started"));
  Program waiting(lockrun({"-W", "-R", "2", "-S", "1"}, {"/bin/echo", "ran"}));

  EXPECT_EQ(waiting.exit_code(), 1);
  EXPECT_THAT(waiting.err(), HasSubstr("ERROR: cannot launch /bin/echo - run is locked\n"));
}

// lockrun's own end frees the lock, and its command continues. Here the command keeps it.
TEST_P(AsLockrun, TheLockIsHeldWhenOnlyTheWrapperIsKilled) {
  // The report comes after the start of the background process.
  Program holder(lockrun({}, {"/bin/sh", "-c",
                              wait_for_go() + " >/dev/null 2>&1 &"
                                              "echo pid=$$; exec >/dev/null 2>&1; wait"}));
  holder.pid_after("pid=");
  holder.signal(SIGKILL);
  // The command's first process ends with the wrapper; the background process does not.
  EXPECT_EQ(holder.exit_code(), 137);
  Program excluded(flock({"/bin/true"}));
  EXPECT_EQ(excluded.exit_code(), 9);
  touch(go);
  EXPECT_TRUE(eventually([&] { return Program(flock({"/bin/true"})).exit_code() == 0; }));
}

TEST_P(AsLockrun, ABackgroundProcessContinuesAndDoesNotHoldTheLock) {
  Program holder(
      lockrun({}, {"/bin/sh", "-c",
                   "(" + wait_for_go() + "; touch '" + dir.path("done") + "') >/dev/null 2>&1 &"}));
  EXPECT_EQ(holder.exit_code(), 0);
  Program next(flock({"/bin/true"}));
  EXPECT_EQ(next.exit_code(), 0);
  touch(go);
  EXPECT_TRUE(eventually([&] { return exists(dir.path("done")); }));
}

TEST_P(AsLockrun, ASignalReachesTheCommand) {
  Program holder(lockrun({}, {"/bin/sh", "-c",
                              "trap 'echo got TERM; exit 3' TERM; echo started;"
                              "while :; do sleep 0.01; done"}));
  ASSERT_TRUE(holder.says("started"));
  holder.signal(SIGTERM);

  EXPECT_EQ(holder.exit_code(), 3);
  EXPECT_THAT(holder.out(), HasSubstr("got TERM"));
}

TEST_P(AsLockrun, EveryErrorIsOneLineAndExitCodeOne) {
  const std::pair<Words, const char*> cases[] = {
      {{}, "lockrun: no lock file"},
      {{"-L", file}, "lockrun: no command"},
      {{"-L", file, "true"}, "put -- before the command"},
      {{"--lokfile=" + file, "--", "true"}, "lockrun: unknown option"},
      {{"-L", dir.path("none/x"), "--store=" + store, "--", "true"}, "No such file or directory"},
      {{"-L", file, "--store=redis://h", "--", "true"}, "lock-file: the store is not a file store"},
      {{"-L", "/" + std::string(250, 'a'), "--", "true"}, "too long"}};
  for (const auto& [words, message] : cases) {
    Program program(lockrun(words));

    EXPECT_EQ(program.exit_code(), 1) << message;
    EXPECT_THAT(program.err(), HasSubstr(message));
    EXPECT_THAT(program.err(), StartsWith("cronlatch: "));
    EXPECT_EQ(count(program.err(), "\n"), 1U) << program.err();
  }
}

TEST_P(AsLockrun, AMissingCommandIs127AndLeavesNothingHeld) {
  Program program(lockrun({}, {"/no/such/command"}));

  EXPECT_EQ(program.exit_code(), 127);
  Program next(flock({"/bin/true"}));
  EXPECT_EQ(next.exit_code(), 0);
}

TEST_P(AsLockrun, VariablesOfCronlatchDoNotChangeIt) {
  ProgramSpec spec = lockrun({}, {"/bin/echo", "ran"});
  spec.env.insert(spec.env.end(), {"CRONLATCH_STORE=redis://192.0.2.1", "CRONLATCH_LOCK=other",
                                   "CRONLATCH_CONFIG=/no/such/file"});
  Program program(spec);

  EXPECT_EQ(program.exit_code(), 0) << program.err();
  EXPECT_EQ(program.out(), "ran\n");
}

TEST_P(AsLockrun, ExplainPrintsACommandLineThatDoesTheSame) {
  Program explain(lockrun({"--explain"}, {"/bin/sh", "-c", "echo \"ran $0\"; exit 5", "it's"}));
  ASSERT_EQ(explain.exit_code(), 0);
  EXPECT_THAT(explain.out(), StartsWith("cronlatch run --isolated "));
  EXPECT_FALSE(exists(file)) << "it runs nothing";

  const std::string link = dir.path("cronlatch");
  ASSERT_EQ(symlink(binary().c_str(), link.c_str()), 0);
  Program native(
      {.argv = {"/bin/sh", "-c", explain.out()}, .env = {"PATH=" + dir.path() + ":/usr/bin:/bin"}});
  EXPECT_EQ(native.exit_code(), 5);
  EXPECT_EQ(native.out(), "ran it's\n");
  EXPECT_TRUE(exists(file));
}

TEST(AsOtherProgram, AnUnknownNameIsAUsageError) {
  for (const Words& words : {Words{"as"}, Words{"as", "lockrn"}}) {
    Words argv = {binary()};
    argv.insert(argv.end(), words.begin(), words.end());
    Program program({.argv = argv});

    EXPECT_EQ(program.exit_code(), 64);
    EXPECT_THAT(program.err(), HasSubstr("the names: cronlock, golock, lockrun"));
  }
}

}  // namespace
}  // namespace cronlatch::testing
