// SPDX-License-Identifier: Apache-2.0
// Signals sent to the wrapper: after the start they are the command's, before it four of them
// cancel.
#include "gated.h"

namespace cronlatch::testing {
namespace {

enum class Parent { wrapper, guardian };

// A run of the file store has no guardian, a run with a lease has one.
class Signals : public GatedByRedis, public ::testing::WithParamInterface<Parent> {
 protected:
  void SetUp() override {
    if (GetParam() == Parent::wrapper) store = "file://" + dir.path("locks");
  }
  // A run that waits for a lock which another one holds.
  std::unique_ptr<Program> waiting_run() {
    holder = std::make_unique<Program>(run({}, {"say", "holding", "await", go()}));
    EXPECT_TRUE(holder->says("holding"));
    auto waiter =
        std::make_unique<Program>(run({"--on-busy", "wait"}, {"touch", dir.path("started")}));
    EXPECT_TRUE(waiter->complains("waiting"));
    return waiter;
  }
  std::unique_ptr<Program> holder;
};

TEST_P(Signals, ThatCanBeCaughtAllReachTheCommand) {
  // Given
  Program program(run({}, {"listen"}));
  ASSERT_TRUE(program.says("ready\n"));
  for (int signo = 1; signo <= 64; ++signo) {
    if (signo == SIGKILL || signo == SIGSTOP || signo == SIGCHLD) continue;
    // When
    program.signal(signo);
    // Then
    EXPECT_TRUE(program.says("signal " + std::to_string(signo) + "\n")) << signo;
  }
}

TEST_P(Signals, TermIntHupAndQuitBeforeTheStartCancelAndNothingIsStarted) {
  for (const int signo : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    // Given
    const auto waiter = waiting_run();
    // When
    waiter->signal(signo);
    // Then
    EXPECT_EQ(waiter->exit_code(), 128 + signo) << waiter->err();
    EXPECT_FALSE(exists(dir.path("started")));
    touch(go());
    EXPECT_EQ(holder->exit_code(), 0);
    EXPECT_FALSE(exists(dir.path("started")));
    ::unlink(go().c_str());
  }
}

TEST_P(Signals, OtherThanThoseFourAreIgnoredBeforeTheStart) {
  // Given
  const auto waiter = waiting_run();
  // When
  for (const int signo : {SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE, SIGWINCH, 32, 33, 34, 64})
    waiter->signal(signo);
  touch(go());
  // Then
  EXPECT_EQ(waiter->exit_code(), 0) << waiter->err();
  EXPECT_TRUE(exists(dir.path("started")));
}

TEST_P(Signals, ThatWereIgnoredAtTheStartStayIgnoredForTheCommand) {
  // Given
  ProgramSpec spec = run({}, {"signals"});
  spec.ignored = {SIGHUP};
  spec.blocked = {SIGUSR1};
  // When
  Program program(spec);
  // Then
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_EQ(program.out(), "blocked 200\nignored 1\n");
}

TEST_P(Signals, OfNohupDoNotCancelAWaitingRun) {
  // Given
  holder = std::make_unique<Program>(run({}, {"say", "holding", "await", go()}));
  ASSERT_TRUE(holder->says("holding"));
  ProgramSpec spec = run({"--on-busy", "wait"}, {"say", "ran"});
  spec.ignored = {SIGHUP};
  Program waiter(spec);
  ASSERT_TRUE(waiter.complains("waiting"));
  // When
  waiter.signal(SIGHUP);
  touch(go());
  // Then
  EXPECT_EQ(waiter.exit_code(), 0);
  EXPECT_EQ(waiter.out(), "ran\n");
}

class SignalsByRedis : public GatedByRedis {};

TEST_F(SignalsByRedis, DuringAnUnansweredAcquireCancelItAndNothingStaysHeld) {
  // Given
  redis->pause();
  Program program(run({"--connect-timeout", "2s"}, {"touch", dir.path("started")}));
  ASSERT_FALSE(program.exit_code(300ms));
  // When
  program.signal(SIGTERM);
  const auto code = program.exit_code();
  redis->resume();
  // Then
  EXPECT_EQ(code, 143) << program.err();
  EXPECT_TRUE(lock_is_free());
  EXPECT_FALSE(exists(dir.path("started")));
}

std::string name_of_parent(const ::testing::TestParamInfo<Parent>& info) {
  return info.param == Parent::wrapper ? "Wrapper" : "Guardian";
}
INSTANTIATE_TEST_SUITE_P(Below, Signals, ::testing::Values(Parent::wrapper, Parent::guardian),
                         name_of_parent);

}  // namespace
}  // namespace cronlatch::testing
