// SPDX-License-Identifier: Apache-2.0
// The end of a whole process tree in each environment of cronlatch, and what it
// refuses where it could not bring that about.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "launch_context.h"
#include "proc/own_cgroup.h"
#include "support/long_tests.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// First process of a PID namespace that sees the /proc of another one.
const Words kAsFirstProcessWithoutProc = {"/usr/bin/unshare", "-p", "-f"};
const Words kWithoutProc = {
    "/usr/bin/unshare", "-m", "/bin/sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"};
const Words kWithAForeignProc = {"/usr/bin/unshare", "-p", "-f", "/bin/sh", "-c",
                                 "\"$@\"; exit $?",  "sh"};

class Tree : public InLaunchContext {
 protected:
  // Without the file a chain that has survived ends by itself.
  ~Tree() override { std::filesystem::remove(chain()); }

  std::string chain(int i = 0) const { return dir.path("chain" + std::to_string(i)); }
  // When its newest process wrote.
  std::int64_t last_of(int i) const {
    const std::string bytes = read_file(chain(i));
    std::int64_t us = 0;
    if (bytes.size() == sizeof us) std::memcpy(&us, bytes.data(), sizeof us);
    return us;
  }
  // max-run kills a chain of processes that fork and exit; nothing of it lives when the run ends.
  void outruns_nothing(const Words& context) {
    if (!is_permitted(context)) GTEST_SKIP() << "NOT TESTED: not permitted here";
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
      Program program(run_in(context, {"--max-run", "100ms", "--kill-after", "0"},
                             {"ignore", "15", "chain", chain(), "forever"}));
      ASSERT_EQ(program.exit_code(), 124) << program.err() << " in round " << round;
      const std::string last = read_file(chain());
      ASSERT_FALSE(last.empty()) << "there was a chain";
      const auto moves_on = [&] { return read_file(chain()) != last; };
      ASSERT_FALSE(eventually(moves_on, std::chrono::milliseconds(30))) << "in round " << round;
      std::filesystem::remove(chain());
    }
  }
  // TERM and CONT reach a stopped process in a session of its own before it is killed.
  void reaches_sessions(const Words& context) {
    if (!is_permitted(context)) GTEST_SKIP() << "NOT TESTED: not permitted here";
    Program program(run_in(context, {"--max-run", "300ms"},
                           {"to", file(), "daemon", "[", "on", "15", "[", "say", "got-term", "exit",
                            "0", "]", "die", "19", "forever", "]", "forever"}));
    EXPECT_EQ(program.exit_code(), 124) << program.err();
    EXPECT_THAT(read_file(file()), HasSubstr("got-term"));
  }
};

TEST_F(Tree, OfProcessesThatForkAndExitIsKilledInACgroupOfItsOwn) {
  if (!OwnCgroup::create()) GTEST_SKIP() << "NOT TESTED: no cgroup can be created here";
  outruns_nothing({"/usr/bin/env"});
}
TEST_F(Tree, OfProcessesThatForkAndExitIsKilledWithoutACgroup) {
  outruns_nothing(kWithoutPrivileges);
}
TEST_F(Tree, OfProcessesThatForkAndExitIsKilledByTheFirstProcess) {
  outruns_nothing(kAsFirstProcess);
}
TEST_F(Tree, OfProcessesThatForkAndExitIsKilledByTheFirstProcessWithoutProc) {
  outruns_nothing(kAsFirstProcessWithoutProc);
}

// As a user without privileges, so that no cgroup helps.
TEST_F(Tree, S1_OfProcessesThatForkAndExitIsDeadBeforeTheLeaseEnds) {
  if (!is_permitted(kWithoutPrivileges)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  constexpr int kChains = 3;
  constexpr std::int64_t kTtlUs = 5'000'000, kMarginUs = 750'000;
  // Given
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < kChains; ++i) {
    ProgramSpec spec = run_in(kWithoutPrivileges, {"--ttl", "5s", "--kill-after", "200ms"},
                              {"ignore", "15", "chain", chain(i), "forever"});
    *std::find(spec.argv.begin(), spec.argv.end(), "job") = "job" + std::to_string(i);
    programs.push_back(std::make_unique<Program>(spec));
    ASSERT_TRUE(eventually([&] { return last_of(i) > 0; }));
  }
  // When
  const std::int64_t killed = boottime_us();
  redis->kill_now();
  // Then: the last renewal was sent before the store was killed
  for (int i = 0; i < kChains; ++i) {
    auto& program = *programs[static_cast<std::size_t>(i)];
    EXPECT_EQ(program.exit_code(), 79) << program.err();
    EXPECT_GT(last_of(i), killed);
    EXPECT_LE(last_of(i), killed + kTtlUs - kMarginUs) << "chain " << i;
    std::filesystem::remove(chain(i));
  }
}

// 30,000 processes (a long run) take the kernel about a second, so that the kill has to come
// earlier.
TEST_F(Tree, S1_OfAnEnormousCrowdIsReapedBeforeTheLeaseEnds) {
  if (!is_permitted(kWithoutPrivileges)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  constexpr std::int64_t kTtlUs = 15'000'000, kMarginUs = 850'000;
  const std::string count = is_long_run() ? "30000" : "1000";
  // Given
  Program program(run_in(kWithoutPrivileges, {"--ttl", "15s", "--kill-after", "200ms"},
                         {"ignore", "15", "ids", "crowd", count, "forever"}));
  ASSERT_TRUE(program.says("crowd of " + count)) << program.out() << program.err();
  const pid_t group = std::stoi(program.word_after("pgrp="));
  // When
  const std::int64_t killed = boottime_us();
  redis->kill_now();
  // Then: a killed process belongs to its group until it is reaped
  ASSERT_TRUE(program.until([&] { return ::killpg(group, 0) != 0 && errno == ESRCH; }));
  const std::int64_t reaped = boottime_us();
  std::printf("%s processes: all reaped %lld ms before the deadline\n", count.c_str(),
              static_cast<long long>((killed + kTtlUs - kMarginUs - reaped) / 1000));
  EXPECT_LE(reaped, killed + kTtlUs - kMarginUs);
  EXPECT_EQ(program.exit_code(), 79) << program.err();
  // A guardian with so much work is not held by a debugger.
  EXPECT_THAT(program.err(), Not(HasSubstr("the guardian of the command ended")));
}

TEST_F(Tree, IsSignaledInEverySession) { reaches_sessions({"/usr/bin/env"}); }
TEST_F(Tree, IsSignaledInEverySessionWithoutACgroup) { reaches_sessions(kWithoutPrivileges); }
TEST_F(Tree, IsSignaledInEverySessionByTheFirstProcess) { reaches_sessions(kAsFirstProcess); }
TEST_F(Tree, IsSignaledInEverySessionByTheFirstProcessWithoutProc) {
  reaches_sessions(kAsFirstProcessWithoutProc);
}

TEST_F(Tree, ThatNoSignalReachesIsNotStartedUnderALease) {
  for (const Words& context : {kWithoutProc, kWithAForeignProc}) {
    if (!is_permitted(context)) GTEST_SKIP() << "NOT TESTED: not permitted here";
    // Given
    Program program(run_in(context, {}, {"say", "ran"}));
    // When
    const auto code = program.exit_code();
    // Then
    EXPECT_EQ(code, 78) << program.err();
    EXPECT_EQ(program.out(), "");
    EXPECT_THAT(program.err(), HasSubstr("/proc is not mounted or shows another PID namespace"));
    EXPECT_THAT(program.err(), HasSubstr("untracked=allow"));
  }
}

TEST_F(Tree, ThatNoSignalReachesIsStartedUnderALeaseWithUntrackedAllow) {
  if (!is_permitted(kWithoutProc)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  // Given
  Program program(run_in(kWithoutProc, {"--untracked", "allow"}, {"say", "ran"}));
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 0) << program.err();
  EXPECT_EQ(program.out(), "ran\n");
  EXPECT_THAT(program.err(), HasSubstr("can outlive the lease"));
}

TEST_F(Tree, ThatNoSignalReachesIsReportedByExplain) {
  if (!is_permitted(kWithoutProc)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  // Given
  ProgramSpec spec = run_in(kWithoutProc, {}, {"say", "ran"});
  *std::find(spec.argv.begin(), spec.argv.end(), "run") = "explain";
  // When
  Program program(spec);
  // Then
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  EXPECT_THAT(program.out(), HasSubstr("/proc is not mounted"));
}

TEST_F(Tree, ThatNoSignalReachesKeepsALockWithoutALease) {
  if (!is_permitted(kWithoutProc)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  // Given a descendant in a session of its own, and a lock that has no lease
  store = "file://" + dir.path("locks");
  Program program(run_in(kWithoutProc, {"--kill-after", "0"},
                         {"daemon", "[", "to", file(), "say", "up", "await", go(), "]", "await",
                          file(), "exit", "0"}));
  ASSERT_TRUE(told("up"));
  // When
  Program rival(run({"--on-busy", "fail"}, {"exit", "0"}));
  const auto while_it_lives = rival.exit_code();
  touch(go());
  // Then
  EXPECT_EQ(while_it_lives, 75);
  EXPECT_EQ(program.exit_code(), 0) << program.err();
}

// kubectl exec, docker exec: a process whose parent is outside of the namespace.
TEST_F(Tree, DoesNotIncludeWhatIsBroughtIntoTheNamespaceUntilItIsKilled) {
  if (!is_permitted(kAsFirstProcess)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  // Given
  Program program(run_in(kAsFirstProcess, {"--leftovers", "wait"},
                         {"to", file(), "on", "15", "[", "say", "got-term", "]", "say", "up",
                          "await", go(), "exit", "0"}));
  ASSERT_TRUE(told("up"));
  const pid_t wrapper = std::atoi(read_file("/proc/" + std::to_string(program.pid()) + "/task/" +
                                            std::to_string(program.pid()) + "/children")
                                      .c_str());
  ASSERT_GT(wrapper, 1);
  Program guest({.argv = {"/usr/bin/nsenter", "-t", std::to_string(wrapper), "-p", talking_child(),
                          "on", "15", "[", "exit", "9", "]", "say", "in", "forever"}});
  ASSERT_TRUE(guest.says("in")) << guest.err();
  // When
  ::kill(wrapper, SIGTERM);
  // Then
  EXPECT_TRUE(told("got-term"));
  EXPECT_TRUE(is_alive(guest.pid()));
  touch(go());
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  EXPECT_EQ(guest.exit_code(), 137) << "the kernel ends it with the namespace";
}

}  // namespace
}  // namespace cronlatch::testing
