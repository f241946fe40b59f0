// SPDX-License-Identifier: Apache-2.0
// On a terminal, below a real shell: ^C, ^Z, fg and bg do what they do without us.
#include "gated.h"

namespace cronlatch::testing {
namespace {

constexpr char kInterrupt[] = "\x03";
constexpr char kSuspend[] = "\x1a";

enum class Parent { wrapper, guardian };

// A run of the file store has no guardian, a run with a lease has one.
class Terminals : public GatedByRedis, public ::testing::WithParamInterface<Parent> {
 protected:
  void SetUp() override {
    if (GetParam() == Parent::wrapper) store = "file://" + dir.path("locks");
    if (!exists("/bin/bash")) GTEST_SKIP() << "NOT TESTED: no /bin/bash with job control here";
    shell = std::make_unique<Program>(
        ProgramSpec{.argv = {"/bin/bash", "--norc", "--noprofile", "--noediting", "-i"},
                    .env = {"PATH=/usr/bin:/bin", "PS1=> ", "HISTFILE=/dev/null", "TERM=dumb"},
                    .stdio = Stdio::terminal});
    // The terminal repeats what is typed; nothing below may be taken for what was answered.
    shell->type("stty -echo\n");
    shell->type("echo set-$((1+1))\n");
    ASSERT_TRUE(shell->says("set-2"));
  }
  void TearDown() override {
    if (shell) shell->type("\nexit\n");
  }
  std::string line(const Words& words) const {
    std::string text;
    for (const std::string& word : run_words({}, words)) text += "'" + word + "' ";
    return text;
  }
  // The nth time that the terminal shows `text`.
  bool shows(const std::string& text, std::size_t times = 1) {
    return shell->until([&] { return count(shell->out(), text) >= times; });
  }
  bool exit_code_is(int code) {
    shell->type("echo code=$?.\n");
    return shell->says("code=" + std::to_string(code) + ".");
  }
  // ^Z, and fg as soon as the shell says that the job has stopped; then ^C, which the command
  // answers with 5.
  void stops_continues_and_ends() {
    ASSERT_TRUE(shows("foreground=yes")) << shell->out();
    shell->type(kSuspend);
    ASSERT_TRUE(shows("Stopped")) << shell->out();
    shell->type("fg\n");
    ASSERT_TRUE(shows("foreground=yes", 2)) << shell->out();
    shell->type(kInterrupt);
    EXPECT_TRUE(shell->until([&] { return exit_code_is(5); })) << shell->out();
  }
  // Says where it is when it starts and when it is continued; ^C ends it with 5.
  const Words stoppable = {"on", "18",   "[", "ids", "]",   "on",     "2",
                           "[",  "exit", "5", "]",   "ids", "forever"};
  std::unique_ptr<Program> shell;
};

TEST_P(Terminals, GiveTheForegroundToTheCommandAndControlCReachesIt) {
  // Given
  shell->type(line({"on", "2", "[", "say", "got-interrupt", "exit", "5", "]", "ids", "forever"}) +
              "\n");
  ASSERT_TRUE(shows("foreground=yes")) << shell->out();
  // When
  shell->type(kInterrupt);
  // Then
  EXPECT_TRUE(shows("got-interrupt"));
  EXPECT_TRUE(exit_code_is(5)) << shell->out();
}

TEST_P(Terminals, StopTheJobWithControlZAndContinueItWithFg) {
  shell->type(line(stoppable) + "\n");
  stops_continues_and_ends();
}

TEST_P(Terminals, ContinueAStoppedJobInTheBackgroundWithBg) {
  // Given
  shell->type(
      line({"on", "18", "[", "ids", "]", "on", "10", "[", "exit", "6", "]", "ids", "forever"}) +
      "\n");
  ASSERT_TRUE(shows("foreground=yes")) << shell->out();
  shell->type(kSuspend);
  ASSERT_TRUE(shows("Stopped")) << shell->out();
  // When
  shell->type("bg\n");
  // Then
  ASSERT_TRUE(shows("foreground=no")) << shell->out();
  shell->type("kill -USR1 %1; wait %1\n");
  EXPECT_TRUE(exit_code_is(6)) << shell->out();
}

TEST_P(Terminals, AreHandedOverWhenABackgroundJobThatWantsThemIsBroughtToTheFront) {
  // Given
  shell->type(line({"ids", "read", "exit", "8"}) + "&\n");
  ASSERT_TRUE(shows("foreground=no")) << shell->out();
  // When
  shell->type("sleep 0.3; fg\n");
  shell->type("hello\n");
  // Then
  ASSERT_TRUE(shows("read hello")) << shell->out();
  EXPECT_TRUE(exit_code_is(8)) << shell->out();
}

TEST_P(Terminals, AreGivenBackToTheCallingScriptWhenTheCommandEnds) {
  // Given
  std::ofstream(dir.path("script")) << line({"ids"}) + "\nread answer\necho got-$answer\n";
  // When
  shell->type("sh " + dir.path("script") + "\n");
  ASSERT_TRUE(shows("foreground=yes")) << shell->out();
  shell->type("hello\n");
  // Then
  EXPECT_TRUE(shows("got-hello")) << shell->out();
}

class ScriptsOnTerminals : public Terminals {
 protected:
  // A script whose last command is the wrapper, with `before` in front of it.
  void is_stopped_and_continued(const std::string& before) {
    std::ofstream(dir.path("script")) << before + line(stoppable) + "\nexit $?\n";
    shell->type("sh " + dir.path("script") + "\n");
    stops_continues_and_ends();
  }
};

TEST_P(ScriptsOnTerminals, AreStoppedAndContinuedWithTheRun) { is_stopped_and_continued(""); }

// To the shell the job has stopped when the script has, whatever we are doing.
TEST_P(ScriptsOnTerminals, MayBeContinuedBeforeTheRunHasStopped) {
  Program probe({.argv = {"/usr/bin/strace", "-qq", "-e", "trace=kill", "/bin/true"}});
  if (probe.exit_code() != 0) GTEST_SKIP() << "NOT TESTED: no program may be traced here";
  is_stopped_and_continued(
      "strace -qq -o /dev/null -e trace=kill -e inject=kill:delay_exit=700000 ");
}

std::string name_of_parent(const ::testing::TestParamInfo<Parent>& info) {
  return info.param == Parent::wrapper ? "Wrapper" : "Guardian";
}
const auto kParents = ::testing::Values(Parent::wrapper, Parent::guardian);
INSTANTIATE_TEST_SUITE_P(Below, Terminals, kParents, name_of_parent);
INSTANTIATE_TEST_SUITE_P(Below, ScriptsOnTerminals, kParents, name_of_parent);

}  // namespace
}  // namespace cronlatch::testing
