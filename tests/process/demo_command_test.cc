// SPDX-License-Identifier: Apache-2.0
// `cronlatch demo`: its story, and nothing is left behind.
#include <csignal>
#include <filesystem>

#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

// The processes with `text` in their arguments.
std::vector<std::string> commands_with(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string command = read_file(entry.path() / "cmdline");
    if (command.find(text) != std::string::npos) found.push_back(command);
  }
  return found;
}

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
  EXPECT_EQ(demo.exit_code(), 128 + SIGINT) << demo.out();
  EXPECT_FALSE(exists(folder)) << folder;
}

TEST(DemoCommand, EndsItsRunsAfterASignal) {
  for (const int signo : {SIGTERM, SIGHUP}) {
    // Given
    Program demo({.argv = {binary(), "demo"}});
    ASSERT_TRUE(demo.says("2. B is started")) << demo.out();
    const std::string folder = demo.word_after("file://");
    // When
    demo.signal(signo);
    // Then
    EXPECT_EQ(demo.exit_code(), 128 + signo) << demo.out() << demo.err();
    EXPECT_FALSE(exists(folder)) << folder;
    EXPECT_EQ(demo.err().find("demo failed"), std::string::npos) << demo.err();
    EXPECT_EQ(commands_with(folder), std::vector<std::string>{});
  }
}

TEST(DemoCommand, ContinuesAfterAHangUpThatItsParentIgnores) {
  // Given
  Program demo({.argv = {"/usr/bin/nohup", binary(), "demo"}});
  ASSERT_TRUE(demo.says("2. B is started")) << demo.out();
  // When
  demo.signal(SIGHUP);
  // Then
  EXPECT_EQ(demo.exit_code(), 0) << demo.out() << demo.err();
}

TEST(DemoCommand, RunsOnATerminal) {
  Program demo({.argv = {binary(), "demo"}, .stdio = Stdio::terminal});

  EXPECT_EQ(demo.exit_code(), 0) << demo.out();
}

}  // namespace
}  // namespace cronlatch::testing
