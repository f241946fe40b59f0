// SPDX-License-Identifier: Apache-2.0
// The exit status: the command's own, 128+n for a signal, 126 and 127; and an end that leaves
// nothing held.
#include <sys/stat.h>

#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class ExitCodes : public Gated {};

TEST_F(ExitCodes, OfTheCommandArePassedThroughAll256) {
  for (int code = 0; code <= 255; ++code) {
    // Given
    Program program(run({}, {"exit", std::to_string(code)}));
    // When
    const auto got = program.exit_code();
    // Then
    EXPECT_EQ(got, code) << program.err();
  }
}

TEST_F(ExitCodes, OfACommandEndedBySignalNAre128PlusN) {
  for (int signo = 1; signo <= 64; ++signo) {
    const bool deadly = signo != SIGCHLD && signo != SIGCONT && signo != SIGURG &&
                        signo != SIGWINCH && signo != SIGSTOP && signo != SIGTSTP &&
                        signo != SIGTTIN && signo != SIGTTOU;
    if (!deadly) continue;
    // Given
    Program program(run({}, {"die", std::to_string(signo)}));
    // When
    const auto got = program.exit_code();
    // Then
    EXPECT_EQ(got, 128 + signo) << program.err();
  }
}

TEST_F(ExitCodes, Is137WhenTheCommandIsKilledByOthers) {
  // Given
  Program program(run({}, {"ids", "forever"}));
  ASSERT_TRUE(program.says("ids"));
  // When
  ::kill(program.pid_after("ids pid="), SIGKILL);
  // Then
  EXPECT_EQ(program.exit_code(), 137);
  EXPECT_TRUE(lock_is_free());
}

TEST_F(ExitCodes, Are127And126WithAReasonAndNothingStaysHeld) {
  // Given
  const std::string no_mode = dir.path("no-mode"), no_loader = dir.path("no-loader");
  touch(no_mode);
  std::ofstream(no_loader) << "#!/no/such/interpreter\n";
  ::chmod(no_loader.c_str(), 0755);
  const Words prefix = {binary(), "run", "--lock", "job", "--store", store, "--"};
  const auto with = [&prefix](const std::string& command) {
    Words words = prefix;
    words.push_back(command);
    return ProgramSpec{.argv = words};
  };
  // When
  Program missing(with("no-such-command")), denied(with(no_mode)), interpreter(with(no_loader));
  // Then
  EXPECT_EQ(missing.exit_code(), 127);
  EXPECT_THAT(missing.err(), HasSubstr("no-such-command"));
  EXPECT_EQ(denied.exit_code(), 126);
  EXPECT_THAT(denied.err(), HasSubstr(no_mode));
  EXPECT_EQ(interpreter.exit_code(), 127);
  EXPECT_THAT(interpreter.err(), HasSubstr("interpreter"));
  EXPECT_TRUE(lock_is_free());
}

}  // namespace
}  // namespace cronlatch::testing
