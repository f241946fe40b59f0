// SPDX-License-Identifier: Apache-2.0
// `cronlatch demo`: its story, and nothing is left behind.
#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

TEST(DemoCommand, ShowsARunASkipAndATakeover) {
  // Given: a variable that no run of the demo may use
  Program demo({.argv = {binary(), "demo"}, .env = {"CRONLATCH_STORE=redis://127.0.0.1:1"}});
  ASSERT_TRUE(demo.says("1. A acquires"));
  const std::string folder = demo.word_after("file://");
  EXPECT_TRUE(exists(folder)) << folder;
  // When
  const auto code = demo.exit_code();
  // Then
  EXPECT_EQ(code, 0) << demo.out() << demo.err();
  EXPECT_THAT(demo.err(), HasSubstr("held by A since"));
  EXPECT_THAT(demo.err(), HasSubstr("(took over from a holder that ended without a release)"))
      << "a file has no lease";
  EXPECT_THAT(demo.out(), HasSubstr("kill -9 A"));
  EXPECT_THAT(demo.out(), HasSubstr("Result: two grants, one skipped run, one takeover."));
  EXPECT_FALSE(exists(folder)) << folder;
}

TEST(DemoCommand, RemovesItsDirectoryAfterCtrlC) {
  // Given
  Program demo({.argv = {binary(), "demo"}, .stdio = Stdio::terminal});
  ASSERT_TRUE(demo.says("2. B is started")) << demo.out();
  const std::string folder = demo.word_after("file://");
  // When
  demo.type("\x03");
  // Then
  const auto code = demo.exit_code();
  EXPECT_TRUE(code && *code != 0) << demo.out();
  EXPECT_FALSE(exists(folder)) << folder;
}

TEST(DemoCommand, RunsOnATerminal) {
  Program demo({.argv = {binary(), "demo"}, .stdio = Stdio::terminal});

  EXPECT_EQ(demo.exit_code(), 0) << demo.out();
}

}  // namespace
}  // namespace cronlatch::testing
