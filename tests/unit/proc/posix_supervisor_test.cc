// SPDX-License-Identifier: Apache-2.0
// PosixSupervisor with real children: what it reports, and the processes that its signals reach.
#include "proc/posix_supervisor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "signals.h"
#include "support/program.h"

namespace cronlatch {
namespace {

using ::testing::ElementsAre;
using testing::eventually;
using testing::exists;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::read_file;
using testing::ScratchDir;
using testing::talking_child;

class Supervised : public ::testing::Test {
 protected:
  ~Supervised() override { supervisor.signal(SIGKILL, Target::tree); }

  Command talk(std::vector<std::string> words) {
    words.insert(words.begin(), {talking_child(), "to", output()});
    return {talking_child(), words, {"PATH=/usr/bin:/bin"}};
  }
  std::string output() const { return dir.path("output"); }
  bool says(const std::string& text) {
    return eventually([&] { return read_file(output()).find(text) != std::string::npos; });
  }

  // Waits as drive() does, until a fact is there.
  std::optional<ProcEvent> fact(std::chrono::milliseconds limit = testing::kPatience) {
    std::optional<ProcEvent> got;
    (void)eventually(
        [&] {
          got = supervisor.next();
          if (got) return true;
          PollSet set;
          supervisor.watch(set);
          std::vector<pollfd> fds;
          for (const auto& w : set.fds) fds.push_back({w.fd, w.events, 0});
          ::poll(fds.data(), fds.size(), 20);
          return false;
        },
        limit);
    return got;
  }
  std::vector<ProcEvent> facts(std::size_t n) {
    std::vector<ProcEvent> got;
    while (got.size() < n) {
      const auto one = fact();
      if (!one) break;
      got.push_back(*one);
    }
    return got;
  }

  testing::KeepsSignals keeps;
  ScratchDir dir;
  SignalReader gate = *SignalReader::open();
  PosixSupervisor supervisor{gate};
};

TEST_F(Supervised, CommandReportsItsStartAndThenItsExitCode) {
  // Given
  const Command command = talk({"exit", "42"});
  // When
  supervisor.start(command, -1);
  // Then
  EXPECT_THAT(facts(2), ElementsAre(ProcEvent(ChildStarted{}), ProcEvent(ChildExited{42, true})));
}

TEST_F(Supervised, CommandEndedByASignalHasExitCode128PlusN) {
  // Given
  const Command command = talk({"die", "9"});
  // When
  supervisor.start(command, -1);
  // Then
  EXPECT_THAT(facts(2), ElementsAre(ProcEvent(ChildStarted{}), ProcEvent(ChildExited{137, true})));
}

TEST_F(Supervised, CommandWithoutAFileCannotStart) {
  // Given
  const Command command{"/no/such/file", {"x"}, {}};
  // When
  supervisor.start(command, -1);
  // Then
  const auto got = fact();
  ASSERT_TRUE(got && std::holds_alternative<CannotStart>(*got));
  EXPECT_EQ(std::get<CannotStart>(*got).error.code, Code::exec_missing);
  EXPECT_FALSE(fact(std::chrono::milliseconds(50)));
}

TEST_F(Supervised, CommandThatMayNotBeExecutedCannotStart) {
  // Given
  std::ofstream(dir.path("file")) << "x";
  // When
  supervisor.start({dir.path("file"), {"x"}, {}}, -1);
  // Then
  const auto got = fact();
  ASSERT_TRUE(got && std::holds_alternative<CannotStart>(*got));
  EXPECT_EQ(std::get<CannotStart>(*got).error.code, Code::exec_denied);
}

TEST_F(Supervised, ScriptWhoseInterpreterIsMissingCannotStart) {
  // Given
  std::ofstream(dir.path("script")) << "#!/no/such/interpreter\n";
  ::chmod(dir.path("script").c_str(), 0755);
  // When
  supervisor.start({dir.path("script"), {"script"}, {}}, -1);
  // Then
  const auto got = fact();
  ASSERT_TRUE(got && std::holds_alternative<CannotStart>(*got));
  EXPECT_EQ(std::get<CannotStart>(*got).error.code, Code::exec_missing);
  EXPECT_THAT(std::get<CannotStart>(*got).error.message, HasSubstr("interpreter"));
}

TEST_F(Supervised, ScriptWithoutAFirstLineIsGivenToTheShell) {
  // Given
  std::ofstream(dir.path("script")) << "echo \"$0 $1\" > \"$2\"\nexit 5\n";
  ::chmod(dir.path("script").c_str(), 0755);
  // When
  supervisor.start({dir.path("script"), {"script", "one", output()}, {"PATH=/bin"}}, -1);
  // Then
  EXPECT_THAT(facts(2), ElementsAre(ProcEvent(ChildStarted{}), ProcEvent(ChildExited{5, true})));
  EXPECT_EQ(read_file(output()), dir.path("script") + " one\n");
}

TEST_F(Supervised, CommandHasTheOriginalSignalMaskAndDispositions) {
  // Given
  const Command command = talk({"signals"});
  // When
  supervisor.start(command, -1);
  ASSERT_EQ(facts(2).size(), 2u);
  // Then
  EXPECT_EQ(read_file(output()), "blocked 0\nignored 0\n");
}

TEST_F(Supervised, CommandHasAGroupOfItsOwn) {
  // Given
  const Command command = talk({"ids"});
  // When
  supervisor.start(command, -1);
  ASSERT_EQ(facts(2).size(), 2u);
  // Then
  const std::string ids = read_file(output());
  const std::string pid = ids.substr(8, ids.find(' ', 8) - 8);
  EXPECT_THAT(ids, HasSubstr(" pgrp=" + pid + " "));
  EXPECT_THAT(ids, HasSubstr(" ppid=" + std::to_string(::getpid()) + " "));
}

TEST_F(Supervised, CommandInheritsTheGivenDescriptorAndNoOther) {
  // Given
  const int inherited_fd = ::fcntl(gate.fd(), F_DUPFD_CLOEXEC, 100);
  std::size_t inheritable = 0;
  for (int fd = 0; fd < 256; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++inheritable;
  }
  // When
  supervisor.start(talk({"fds"}), inherited_fd);
  ASSERT_EQ(facts(2).size(), 2u);
  // Then
  const std::string fds = read_file(output());
  EXPECT_THAT(fds, HasSubstr("fd " + std::to_string(inherited_fd) + " open\n"));
  std::size_t open = 0;
  for (std::size_t at = 0; (at = fds.find(" open\n", at)) != std::string::npos; ++at) ++open;
  const std::size_t its_own = 1;  // the file it writes to
  EXPECT_EQ(open, inheritable + 1 + its_own) << fds;
  EXPECT_NE(::fcntl(inherited_fd, F_GETFD) & FD_CLOEXEC, 0) << "only the child's copy changes";
  ::close(inherited_fd);
}

TEST_F(Supervised, SignalsAreReportedExceptSigchld) {
  // Given
  supervisor.start(talk({"exit", "0"}), -1);
  ASSERT_EQ(facts(2).size(), 2u);
  // When
  ::kill(::getpid(), SIGUSR1);
  ::kill(::getpid(), SIGCHLD);
  // Then
  EXPECT_EQ(fact(), ProcEvent(SignalArrived{SIGUSR1}));
  EXPECT_FALSE(fact(std::chrono::milliseconds(50)));
}

TEST_F(Supervised, EndOfTheCommandComesBeforeASignalOfTheSameMoment) {
  // Given
  supervisor.start(talk({"await", dir.path("go"), "exit", "3"}), -1);
  ASSERT_EQ(fact(), ProcEvent(ChildStarted{}));
  // When
  ::kill(::getpid(), SIGTERM);
  std::ofstream(dir.path("go")) << "";
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
  // Then
  EXPECT_THAT(facts(2),
              ElementsAre(ProcEvent(ChildExited{3, true}), ProcEvent(SignalArrived{SIGTERM})));
}

TEST_F(Supervised, GroupSignalsReachTheGroupAndTreeSignalsReachEveryDescendant) {
  // Given
  supervisor.start(
      talk({"daemon",  "[", "on",  "12",          "[",    "say", "daemon-usr2", "]",   "on",
            "10",      "[", "say", "daemon-usr1", "exit", "0",   "]",           "say", "daemon-up",
            "forever", "]", "on",  "12",          "[",    "say", "main-usr2",   "]",   "on",
            "10",      "[", "say", "main-usr1",   "exit", "0",   "]",           "say", "main-up",
            "forever"}),
      -1);
  ASSERT_TRUE(says("main-up") && says("daemon-up"));
  ASSERT_EQ(fact(), ProcEvent(ChildStarted{}));
  // When
  supervisor.signal(SIGUSR2, Target::group);
  ASSERT_TRUE(says("main-usr2"));
  supervisor.signal(SIGUSR1, Target::tree);
  // Then
  ASSERT_TRUE(says("main-usr1") && says("daemon-usr1"));
  EXPECT_EQ(read_file(output()).find("daemon-usr2"), std::string::npos);
}

TEST_F(Supervised, TreeIsEmptyOnlyWhenTheLastOrphanIsReaped) {
  // Given
  supervisor.start(
      talk({"daemon", "[", "say", "orphan", "await", dir.path("go"), "]", "exit", "0"}), -1);
  ASSERT_THAT(facts(2), ElementsAre(ProcEvent(ChildStarted{}), ProcEvent(ChildExited{0, false})));
  ASSERT_TRUE(says("orphan"));
  ASSERT_FALSE(fact(std::chrono::milliseconds(50)));
  // When
  std::ofstream(dir.path("go")) << "";
  // Then
  EXPECT_EQ(fact(), ProcEvent(TreeEmpty{}));
}

TEST_F(Supervised, LeftoversInTheGroupAreStillReachedWhenItsLeaderIsReaped) {
  // Given
  supervisor.start(talk({"spawn", "[", "on", "10", "[", "say", "got-usr1", "exit", "0", "]", "say",
                         "up", "forever", "]", "await", dir.path("go"), "exit", "0"}),
                   -1);
  ASSERT_TRUE(says("up"));
  std::ofstream(dir.path("go")) << "";
  ASSERT_THAT(facts(2), ElementsAre(ProcEvent(ChildStarted{}), ProcEvent(ChildExited{0, false})));
  // When
  supervisor.signal(SIGUSR1, Target::group);
  // Then
  EXPECT_TRUE(says("got-usr1"));
  EXPECT_EQ(fact(), ProcEvent(TreeEmpty{}));
}

TEST_F(Supervised, KillEndsATreeThatIgnoresEverythingElse) {
  // Given
  supervisor.start(talk({"daemon", "[", "ignore", "15", "spawn", "[", "ignore", "15", "say", "deep",
                         "forever", "]", "forever", "]", "say", "up", "forever"}),
                   -1);
  ASSERT_TRUE(says("deep") && says("up"));
  ASSERT_EQ(fact(), ProcEvent(ChildStarted{}));
  // When
  supervisor.signal(SIGKILL, Target::tree);
  // Then
  std::vector<ProcEvent> rest = facts(1);
  if (rest == std::vector<ProcEvent>{ChildExited{137, false}}) rest = facts(1);
  EXPECT_THAT(rest, ElementsAre(::testing::AnyOf(ProcEvent(ChildExited{137, true}),
                                                 ProcEvent(TreeEmpty{}))));
}

TEST_F(Supervised, StoppedCommandWithoutATerminalIsNoEvent) {
  // Given
  supervisor.start(talk({"say", "up", "forever"}), -1);
  ASSERT_TRUE(says("up"));
  ASSERT_EQ(fact(), ProcEvent(ChildStarted{}));
  // When
  supervisor.signal(SIGSTOP, Target::group);
  // Then
  EXPECT_FALSE(fact(std::chrono::milliseconds(50)));
  supervisor.signal(SIGTERM, Target::group);
  supervisor.signal(SIGCONT, Target::group);
  EXPECT_EQ(fact(), ProcEvent(ChildExited{143, true}));
}

TEST(SupervisedBesideOtherChildren, NeitherSignalsNorWaitsForEarlierChildren) {
  // Given
  testing::KeepsSignals keeps;
  testing::Program stranger(
      {.argv = {talking_child(), "spawn", "[", "say", "below", "forever", "]", "forever"}});
  ASSERT_TRUE(stranger.says("below"));
  SignalReader gate = *SignalReader::open();
  PosixSupervisor supervisor(gate);
  const auto next = [&supervisor] {
    std::optional<ProcEvent> got;
    (void)eventually([&] { return (got = supervisor.next()).has_value(); });
    return got;
  };
  // When
  supervisor.start({talking_child(), {talking_child(), "forever"}, {}}, -1);
  ASSERT_EQ(next(), ProcEvent(ChildStarted{}));
  supervisor.signal(SIGTERM, Target::tree);
  // Then
  EXPECT_EQ(next(), ProcEvent(ChildExited{143, true}));
  EXPECT_TRUE(testing::is_alive(stranger.pid()));
  ::kill(stranger.pid_after("spawned "), SIGKILL);
  stranger.signal(SIGKILL);
}

TEST(SupervisedUnderNohup, IgnoredSignalsDoNotCancelTheStart) {
  // Given
  testing::KeepsSignals keeps;
  std::signal(SIGHUP, SIG_IGN);
  SignalReader gate = *SignalReader::open();
  std::signal(SIGHUP, SIG_DFL);
  PosixSupervisor supervisor(gate);
  // When
  ::kill(::getpid(), SIGHUP);
  ::kill(::getpid(), SIGTERM);
  // Then
  EXPECT_EQ(supervisor.next(), ProcEvent(SignalArrived{SIGTERM}));
  EXPECT_EQ(supervisor.next(), std::nullopt);
}

}  // namespace
}  // namespace cronlatch
