// SPDX-License-Identifier: Apache-2.0
// The command has exited, background processes live: signals and limits reach them wherever they
// are.
#include "gated.h"

namespace cronlatch::testing {
namespace {

class LeftoversOfARun : public GatedByRedis {};

TEST_F(LeftoversOfARun, InASessionOfTheirOwnGetTheSignalsOfTheRun) {
  for (const int signo : {SIGTERM, SIGINT}) {
    const std::string told_here = dir.path("told" + std::to_string(signo));
    Program program(
        run({"--leftovers", "wait"},
            {"daemon", "[", "to", told_here, "on", std::to_string(signo), "[", "say", "got-it",
             "exit", "0", "]", "say", "daemon-up", "forever", "]", "exit", "0"}));
    ASSERT_TRUE(
        eventually([&] { return read_file(told_here).find("daemon-up") != std::string::npos; }));
    ASSERT_TRUE(program.complains("the lock is held until they end")) << program.err();
    program.signal(signo);
    EXPECT_EQ(program.exit_code(), 0) << program.err();
    EXPECT_NE(read_file(told_here).find("got-it"), std::string::npos);
  }
}

TEST_F(LeftoversOfARun, AreStoppedByMaxRun) {
  Program program(run({"--leftovers", "wait", "--max-run", "2s", "--kill-after", "500ms"},
                      {"daemon", "[", "ignore", "15", "forever", "]", "exit", "0"}));
  EXPECT_EQ(program.exit_code(), 124) << program.err();
  EXPECT_TRUE(lock_is_free());
}

// The command has ended with 0, and the lease is lost before its background process is killed.
TEST_F(LeftoversOfARun, WhoseLeaseIsRevokedWhileTheyAreStoppedEndTheRunWith79) {
  // Given
  const std::string outcome = dir.path("outcome");
  Program program(run(
      {"--ttl", "1m", "--renew-every", "200ms", "--kill-after", "5s", "--outcome-file", outcome},
      {"daemon", "[", "to", file(), "on", "15", "[", "say", "got-term", "]", "touch", go(),
       "forever", "]", "await", go(), "exit", "0"}));
  ASSERT_TRUE(told("got-term")) << program.err();
  // When
  Program revoke({.argv = {binary(), "release", "job", "--force", "--no-wait", "--store", store}});
  ASSERT_EQ(revoke.exit_code(), 0) << revoke.err();
  // Then
  EXPECT_EQ(program.exit_code(), 79) << program.err();
  EXPECT_THAT(read_file(outcome), ::testing::HasSubstr(R"("outcome":"lost","reason":"revoked")"));
  EXPECT_TRUE(lock_is_free());
}

}  // namespace
}  // namespace cronlatch::testing
