// SPDX-License-Identifier: Apache-2.0
// The options of `run` as a user meets them, with the real binary.
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class RunOptions : public Gated {
 protected:
  std::unique_ptr<Program> holder_of_the_lock() {
    auto holder = std::make_unique<Program>(run({}, {"say", "holding", "await", go()}));
    EXPECT_TRUE(holder->says("holding")) << holder->err();
    return holder;
  }
};

TEST(Environment, WithAPasswordVariableWithoutAValueIsAccepted) {
  Program program({.argv = {binary(), "version"}, .env = {"CRONLATCH_PASSWORD"}});
  EXPECT_EQ(program.exit_code(), 0) << program.err();
}

TEST_F(RunOptions, MaxRunEndsTheCommandWith124) {
  // Given
  Program program(run({"--max-run", "300ms"},
                      {"on", "15", "[", "say", "got-term", "exit", "1", "]", "forever"}));
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 124) << program.err();
  EXPECT_EQ(program.out(), "got-term\n");
  EXPECT_TRUE(lock_is_free());
}

TEST_F(RunOptions, MaxRunKillsACommandThatIgnoresTermAfterKillAfter) {
  // Given
  Program program(
      run({"--max-run", "200ms", "--kill-after", "200ms"}, {"ignore", "15", "forever"}));
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 124) << program.err();
}

TEST_F(RunOptions, WarnAfterWarnsOnceAndTheCommandGoesOn) {
  // Given
  Program program(run({"--warn-after", "100ms"}, {"await", go(), "exit", "5"}));
  // When
  const bool warned = program.complains("warn-after");
  touch(go());
  // Then
  EXPECT_TRUE(warned) << program.err();
  EXPECT_EQ(program.exit_code(), 5);
  EXPECT_EQ(count(program.err(), "warn-after"), 1u);
}

TEST_F(RunOptions, OnBusyDecidesTheExitCode) {
  // Given
  const auto holder = holder_of_the_lock();
  // When
  Program skip(run({}, {"say", "ran"}));
  Program other_code(run({"--exit-skipped", "42"}, {"say", "ran"}));
  Program fail(run({"--on-busy", "fail"}, {"say", "ran"}));
  Program limited(run({"--on-busy", "wait", "--wait-timeout", "200ms"}, {"say", "ran"}));
  // Then
  EXPECT_EQ(skip.exit_code(), 0);
  EXPECT_EQ(other_code.exit_code(), 42);
  EXPECT_EQ(fail.exit_code(), 75);
  EXPECT_EQ(limited.exit_code(), 75);
  EXPECT_EQ(skip.out() + other_code.out() + fail.out() + limited.out(), "");
  touch(go());
  EXPECT_EQ(holder->exit_code(), 0);
}

TEST_F(RunOptions, SkipCommandRunsInsteadAndItsCodeIsNotReturned) {
  // Given
  const auto holder = holder_of_the_lock();
  const std::string json =
      "[\"" + talking_child() + "\", \"to\", \"" + file() +
      R"(", "say", "instead", "env", "CRONLATCH_FENCE", "env", "CRONLATCH_LEASE_MS",)"
      R"("env", "CRONLATCH_LOCK_NAME", "env", "CRONLATCH_LOCK_HOLDER", "env", "CRONLATCH_SCHEDULED_TIME", "exit", "9"])";
  // When
  Program skipped(run({"--skip-command", json, "--once-per", "job@1763690000"}, {"say", "ran"}));
  // Then
  EXPECT_EQ(skipped.exit_code(), 0) << skipped.err();
  EXPECT_EQ(skipped.out(), "");
  EXPECT_THAT(read_file(file()),
              MatchesRegex("instead\nenv CRONLATCH_LOCK_NAME=job\nenv CRONLATCH_LOCK_HOLDER=.+\n"
                           "env CRONLATCH_SCHEDULED_TIME=2025-11-21T01:53:20Z\n"));
  EXPECT_THAT(skipped.err(), HasSubstr("exit code 9"));
  touch(go());
  EXPECT_EQ(holder->exit_code(), 0);
}

TEST_F(RunOptions, ALockIsNoOptionOfASubcommandThatReadsEveryLock) {
  for (const std::string subcommand : {"ls", "metrics"}) {
    // When
    Program of_one({.argv = {binary(), subcommand, "--store", store, "--lock", "job"}});
    Program of_all(
        {.argv = {binary(), subcommand, "--store", store}, .env = {"CRONLATCH_LOCK=job"}});
    // Then
    EXPECT_EQ(of_one.exit_code(), 64) << subcommand;
    EXPECT_THAT(of_one.err(), HasSubstr("cronlatch show job"));
    EXPECT_EQ(of_all.exit_code(), 0) << of_all.err();
  }
}

TEST_F(RunOptions, L0_MinHoldKeepsTheLockClosedAfterAShortRun) {
  // Given
  const std::int64_t before = boottime_us();
  Program first(run({"--min-hold", "2s"}, {"exit", "0"}));
  ASSERT_EQ(first.exit_code(), 0) << first.err();
  // When
  Program second(run({"--on-busy", "fail"}, {"say", "ran"}));
  Program third(run({"--on-busy", "wait"}, {"say", "ran"}));
  // Then
  EXPECT_EQ(second.exit_code(), 75) << second.err();
  EXPECT_EQ(third.exit_code(), 0) << third.err();
  EXPECT_EQ(third.out(), "ran\n");
  EXPECT_GE(boottime_us() - before, 2'000'000);
}

TEST_F(RunOptions, K3_OncePerRunsAnIdentityToSuccessOnce) {
  // Given
  const Words once = {"--once-per", "ns/job@1763690400", "--job", "ns/job"};
  Program failed(run(once, {"exit", "1"}));
  ASSERT_EQ(failed.exit_code(), 1) << failed.err();
  Program done(run(once, {"say", "ran"}));
  ASSERT_EQ(done.exit_code(), 0) << done.err();
  ASSERT_EQ(done.out(), "ran\n") << "a failed run does not count";
  // When
  Program again(run(once, {"say", "ran"}));
  Program next(run({"--once-per", "ns/job@1763694000", "--job", "ns/job", "--on-busy", "wait"},
                   {"say", "ran"}));
  // Then
  EXPECT_EQ(again.exit_code(), 0);
  EXPECT_EQ(again.out(), "");
  EXPECT_THAT(again.err(), HasSubstr("done"));
  EXPECT_EQ(next.exit_code(), 0);
  EXPECT_EQ(next.out(), "ran\n");
}

TEST_F(RunOptions, L5_RetryOfAGroupThatWasGrantedWaitsInsteadOfSkipping) {
  // Given
  Program first(run({"--attempt-group", "uid-1"}, {"exit", "1"}));
  ASSERT_EQ(first.exit_code(), 1) << first.err();
  const auto holder = holder_of_the_lock();
  // When
  Program retry(run({"--attempt-group", "uid-1"}, {"say", "retried"}));
  const bool waits = retry.complains("waiting");
  Program stranger(run({"--attempt-group", "uid-2"}, {"say", "ran"}));
  const auto stranger_code = stranger.exit_code();
  touch(go());
  // Then
  EXPECT_TRUE(waits) << retry.err();
  EXPECT_EQ(stranger_code, 0);
  EXPECT_EQ(stranger.out(), "");
  EXPECT_EQ(retry.exit_code(), 0);
  EXPECT_EQ(retry.out(), "retried\n");
}

class StoreDown : public Gated {
 protected:
  StoreDown() { store = "redis://127.0.0.1:" + std::to_string(port); }
  int port = free_port();
};

TEST_F(StoreDown, FailsWith69AndStartsNothing) {
  // Given a closed port
  // When
  Program program(run({"--connect-timeout", "300ms"}, {"say", "ran"}));
  // Then
  EXPECT_EQ(program.exit_code(), 69) << program.err();
  EXPECT_EQ(program.out(), "");
}

TEST_F(StoreDown, RunsUngatedWithOnStoreDownRunAndLogsIt) {
  // Given a closed port
  // When
  Program program(run({"--connect-timeout", "300ms", "--on-store-down", "run"},
                      {"say", "ran", "env", "CRONLATCH_FENCE", "exit", "6"}));
  // Then
  EXPECT_EQ(program.exit_code(), 6) << program.err();
  EXPECT_EQ(program.out(), "ran\n");
  EXPECT_THAT(program.err(), HasSubstr("WITHOUT"));
}

class StoreDownForAWhile : public GatedByRedis {};

TEST_F(StoreDownForAWhile, IsWaitedForWithOnStoreDownWait) {
  // Given
  redis->stop();
  Program program(run({"--connect-timeout", "300ms", "--on-store-down", "wait"}, {"say", "ran"}));
  ASSERT_FALSE(program.exit_code(1s)) << program.err();
  // When
  redis->restart();
  // Then
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  EXPECT_EQ(program.out(), "ran\n");
}

TEST_F(StoreDownForAWhile, IsNotWaitedForBeyondWaitTimeout) {
  // Given
  redis->stop();
  // When
  Program program(
      run({"--connect-timeout", "200ms", "--on-store-down", "wait", "--wait-timeout", "800ms"},
          {"say", "ran"}));
  // Then
  EXPECT_EQ(program.exit_code(), 69) << program.err();
  EXPECT_EQ(program.out(), "");
}

}  // namespace
}  // namespace cronlatch::testing
