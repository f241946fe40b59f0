// SPDX-License-Identifier: Apache-2.0
// The guardian of a run with a lease: what happens when the wrapper or the guardian is killed or
// stopped.
#include "guardian.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class Guardian : public GuardianTest {
 protected:
  void ends_the_tree_when_the_wrapper_is_killed(const Words& context) {
    if (!is_permitted(context)) GTEST_SKIP() << "NOT TESTED: not permitted here";
    // Given
    Program program(run_in(context, {}, crowd()));
    ASSERT_TRUE(is_up()) << program.err();
    const std::vector<Process> tree = tree_of(program.pid());
    ASSERT_EQ(tree.size(), 3U) << "guardian, command, daemon";
    // When
    const std::int64_t killed = boottime_us();
    program.signal(SIGKILL);
    // Then
    EXPECT_TRUE(all_ended(tree));
    std::printf("the tree ended %lld ms after the wrapper was killed\n",
                static_cast<long long>((boottime_us() - killed) / 1000));
    EXPECT_LT(last_beat(), killed + 1'000'000);
  }
  void ends_the_run(int signo, const Words& context) {
    if (!is_permitted(context)) GTEST_SKIP() << "NOT TESTED: not permitted here";
    // Given
    Program program(run_in(context, {"--outcome-file", dir.path("outcome")}, crowd()));
    ASSERT_TRUE(is_up()) << program.err();
    const std::vector<Process> tree = tree_of(program.pid());
    const pid_t guardian = guardian_of(program);
    ASSERT_GT(guardian, 1);
    // When
    ::kill(guardian, signo);
    const auto code = program.exit_code();
    const bool some_live = std::any_of(tree.begin(), tree.end(), is_alive_now);
    // Then: the lock is free as soon as the tree has ended
    EXPECT_EQ(code, 79) << program.err();
    EXPECT_FALSE(some_live);
    EXPECT_THAT(program.err(), HasSubstr("the guardian of the command ended or was stopped"));
    EXPECT_THAT(read_file(dir.path("outcome")), HasSubstr("\"reason\":\"guardian\""));
    EXPECT_TRUE(lock_is_free());
  }
};

TEST_F(Guardian, S1_EndsTheTreeWhenTheWrapperIsKilled) {
  ends_the_tree_when_the_wrapper_is_killed({"/usr/bin/env"});
}
TEST_F(Guardian, S1_EndsTheTreeWithoutACgroupWhenTheWrapperIsKilled) {
  ends_the_tree_when_the_wrapper_is_killed(kWithoutPrivileges);
}

TEST_F(Guardian, EndsTheTreeWhenTheWrapperIsKilledWhileItWasStopped) {
  // Given
  Program program(run({}, crowd()));
  ASSERT_TRUE(is_up()) << program.err();
  const std::vector<Process> tree = tree_of(program.pid());
  program.signal(SIGSTOP);
  ASSERT_TRUE(program.stopped());
  // When
  program.signal(SIGKILL);
  // Then
  EXPECT_TRUE(all_ended(tree));
}

// As a user without privileges, so that no cgroup helps.
TEST_F(Guardian, S1_EndsTheTreeOfAStoppedWrapperBeforeTheNextGrant) {
  if (!is_permitted(kWithoutPrivileges)) GTEST_SKIP() << "NOT TESTED: not permitted here";
  constexpr std::int64_t kTtlUs = 5'000'000, kMarginUs = 750'000;
  // Given
  Program program(run_in(kWithoutPrivileges, {"--ttl", "5s", "--kill-after", "300ms"}, crowd()));
  ASSERT_TRUE(is_up()) << program.err();
  Program next(
      run({"--on-busy", "wait", "--ttl", "5s"}, {"to", file() + "3", "beats", "next", "0"}));
  // When
  program.signal(SIGSTOP);
  ASSERT_TRUE(program.stopped());
  const std::int64_t stopped = boottime_us();
  // Then: the last renewal was sent before the stop
  EXPECT_EQ(next.exit_code(), 0) << next.err();
  const std::int64_t ended = last_beat();
  const std::string granted = read_file(file() + "3");
  std::printf("the tree ended %lld ms after the wrapper was stopped\n",
              static_cast<long long>((ended - stopped) / 1000));
  EXPECT_LE(ended, stopped + kTtlUs - kMarginUs);
  ASSERT_THAT(granted, HasSubstr("next "));
  EXPECT_LT(ended, std::atoll(granted.c_str() + granted.find("next ") + 5));
  program.signal(SIGCONT);
  EXPECT_EQ(program.exit_code(), 79) << program.err();
}

TEST_F(Guardian, LeavesTheCommandAloneWhenTheWrapperIsStoppedForAShortTime) {
  // Given
  Program program(run({"--ttl", "30s"}, {"say", "up", "await", go(), "exit", "3"}));
  ASSERT_TRUE(program.says("up"));
  // When
  program.signal(SIGSTOP);
  ASSERT_TRUE(program.stopped());
  program.signal(SIGCONT);
  touch(go());
  // Then
  EXPECT_EQ(program.exit_code(), 3) << program.err();
}

// The kill time moves with each renewal.
TEST_F(Guardian, LeavesTheCommandAloneForLongerThanALease) {
  // Given
  Program program(run({"--ttl", "5s"}, {"sleep", "6000", "exit", "3"}));
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 3) << program.err();
}

TEST_F(Guardian, S5_ThatIsKilledEndsTheRun) { ends_the_run(SIGKILL, {"/usr/bin/env"}); }
TEST_F(Guardian, S5_ThatIsKilledEndsTheRunWithoutACgroup) {
  ends_the_run(SIGKILL, kWithoutPrivileges);
}
TEST_F(Guardian, S5_ThatIsStoppedEndsTheRun) { ends_the_run(SIGSTOP, {"/usr/bin/env"}); }
TEST_F(Guardian, S5_ThatIsStoppedEndsTheRunWithoutACgroup) {
  ends_the_run(SIGSTOP, kWithoutPrivileges);
}

}  // namespace
}  // namespace cronlatch::testing
