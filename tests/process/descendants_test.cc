// SPDX-License-Identifier: Apache-2.0
// What the command leaves behind: reaped, ended, waited for or left; never alive when the lock is
// given away.
#include <sys/stat.h>

#include <filesystem>

#include "gated.h"
#include "proc/descendants.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class Leftovers : public GatedByRedis {
 protected:
  // A daemon that executes `words` and writes its pid to the file; then the command exits 0.
  Words leave(Words words) const {
    words.insert(words.begin(), {"to", file(), "daemon", "["});
    words.insert(words.end(), {"ids", "touch", dir.path("up"), "forever", "]", "await",
                               dir.path("up"), "exit", "0"});
    return words;
  }
  pid_t daemon_pid() const {
    EXPECT_TRUE(told("foreground="));
    const std::string text = read_file(file());
    const int pid = std::atoi(text.c_str() + text.find("ids pid=") + 8);
    return pid > 1 ? pid : ::getpid();
  }
};

TEST_F(Leftovers, ThatHaveEndedAreReaped) {
  // Given
  Program program(run({}, {"daemon", "[", "exit", "1", "]", "daemon", "[", "exit", "2", "]", "say",
                           "up", "forever"}));
  ASSERT_TRUE(program.says("up"));
  // When
  const auto guardian_and_command = [&program] {
    const auto tree = descendants_of(program.pid(), {});
    return tree && tree->size() == 2;
  };
  // Then
  EXPECT_TRUE(eventually(guardian_and_command));
  program.signal(SIGTERM);
  EXPECT_EQ(program.exit_code(), 143);
}

TEST_F(Leftovers, ThatHaveEndedAreReapedByTheFirstProcessOfAContainer) {
  // Given
  Program trial({.argv = {"/usr/bin/unshare", "-p", "-f", "--mount-proc", "/bin/true"}});
  if (trial.exit_code() != 0)
    GTEST_SKIP() << "NOT TESTED: a PID namespace is not permitted here: " << trial.err();
  ProgramSpec spec =
      run({}, {"daemon", "[", "exit", "1", "]", "ids", "say", "up", "await", go(), "exit", "6"});
  spec.argv.insert(spec.argv.begin(), {"/usr/bin/unshare", "-p", "-f", "--mount-proc"});
  Program program(spec);
  ASSERT_TRUE(program.says("up")) << program.err();
  EXPECT_THAT(program.out(), HasSubstr("ppid=1 "));
  // When
  const auto wrapper_and_command = [&program] {
    const auto tree = descendants_of(program.pid(), {});
    return tree && tree->size() == 2;
  };
  // Then
  EXPECT_TRUE(eventually(wrapper_and_command));
  touch(go());
  EXPECT_EQ(program.exit_code(), 6) << program.err();
}

TEST_F(Leftovers, S5_AreEndedBeforeTheLockIsReleased) {
  // Given
  Program first(
      run({}, leave({"on", "15", "[", "sleep", "300", "say", "daemon-ended", "exit", "0", "]"})));
  const pid_t daemon = daemon_pid();
  Program second(run({"--on-busy", "wait"}, {"to", file(), "say", "next-started"}));
  // When
  const auto code = first.exit_code();
  const bool daemon_alive = is_alive(daemon);
  // Then
  EXPECT_EQ(code, 0) << first.err();
  EXPECT_FALSE(daemon_alive);
  EXPECT_EQ(second.exit_code(), 0);
  const std::string story = read_file(file());
  ASSERT_THAT(story, HasSubstr("daemon-ended"));
  EXPECT_LT(story.find("daemon-ended"), story.find("next-started"));
}

TEST_F(Leftovers, S5_ThatIgnoreTermAreKilledAfterKillAfter) {
  // Given
  Program program(run({"--kill-after", "300ms"}, leave({"ignore", "15"})));
  const pid_t daemon = daemon_pid();
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 0) << program.err();
  EXPECT_FALSE(is_alive(daemon));
}

TEST_F(Leftovers, S5_AreWaitedForWithLeftoversWait) {
  // Given
  Program program(run({"--leftovers", "wait"},
                      {"daemon", "[", "await", go(), "]", "say", "leaving", "exit", "0"}));
  ASSERT_TRUE(program.says("leaving"));
  ASSERT_TRUE(program.complains("the lock is held until they end"));
  // When
  Program rival(run({"--on-busy", "fail"}, {"exit", "0"}));
  const auto while_it_lives = rival.exit_code();
  touch(go());
  // Then
  EXPECT_EQ(while_it_lives, 75);
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_TRUE(lock_is_free());
}

TEST_F(Leftovers, AreLeftWithLeftoversLeave) {
  // Given
  Program program(run({"--leftovers", "leave"}, leave({})));
  // When
  const auto code = program.exit_code();
  const pid_t daemon = daemon_pid();
  // Then
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(is_alive(daemon));
  EXPECT_TRUE(lock_is_free());
  if (daemon != ::getpid()) ::kill(daemon, SIGKILL);
}

TEST_F(Leftovers, OfTheGroupAreEndedWithoutProc) {
  // Given
  const std::string hide = "mount -t tmpfs none /proc && exec \"$@\"";
  Program trial({.argv = {"/usr/bin/unshare", "-m", "/bin/sh", "-c", hide, "sh", "/bin/true"}});
  if (trial.exit_code() != 0)
    GTEST_SKIP() << "NOT TESTED: a mount namespace is not permitted here: " << trial.err();
  ProgramSpec spec = run({"--untracked", "allow"}, {"spawn", "[", "forever", "]", "exit", "3"});
  spec.argv.insert(spec.argv.begin(), {"/usr/bin/unshare", "-m", "/bin/sh", "-c", hide, "sh"});
  // When
  Program program(spec);
  const pid_t left = program.pid_after("spawned ");
  // Then
  EXPECT_EQ(program.exit_code(), 3) << program.err();
  EXPECT_FALSE(is_alive(left));
}

TEST_F(Leftovers, AreNotTheJobsOfAShellThatExecutedCronlatch) {
  // Given
  std::string script = "'" + talking_child() + "' ids forever & exec";
  for (const std::string& word : run_words({}, {"exit", "3"})) script += " '" + word + "'";
  // When
  Program program({.argv = {"/bin/sh", "-c", script}});
  const pid_t job_before = program.pid_after("ids pid=");
  // Then
  EXPECT_EQ(program.exit_code(), 3) << program.err();
  EXPECT_TRUE(is_alive(job_before));
  ::kill(job_before, SIGKILL);
}

TEST_F(Leftovers, S5_ThatCannotBeKilledKeepTheLockHeldAndRenewed) {
  // Given a set-uid descendant below an unprivileged wrapper
  if (::geteuid() != 0) GTEST_SKIP() << "NOT TESTED: needs root to make a set-uid program";
  const std::string set_uid = dir.path("set-uid");
  std::filesystem::copy_file(talking_child(), set_uid);
  ::chmod(set_uid.c_str(), 04755);
  ::chmod(dir.path().c_str(), 0777);
  ProgramSpec spec{.argv = {"/usr/bin/setpriv",
                            "--reuid",
                            "65534",
                            "--clear-groups",
                            binary(),
                            "run",
                            "--lock",
                            "job",
                            "--store",
                            store,
                            "--ttl",
                            "5s",
                            "--kill-after",
                            "200ms",
                            "--",
                            set_uid,
                            "uid",
                            "0",
                            "daemon",
                            "[",
                            "await",
                            go(),
                            "]",
                            "exit",
                            "0"}};
  Program program(spec);
  // When
  const bool reported = program.complains("survives SIGKILL");
  const std::int64_t since = boottime_us();
  const bool beyond_its_ttl = program.until([&] { return boottime_us() - since > 6'000'000; });
  Program rival(run({"--on-busy", "fail"}, {"exit", "0"}));
  // Then
  EXPECT_TRUE(reported) << program.err();
  ASSERT_TRUE(beyond_its_ttl);
  EXPECT_EQ(rival.exit_code(), 75) << "released over a living descendant";
  touch(go());
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_TRUE(lock_is_free());
}

}  // namespace
}  // namespace cronlatch::testing
