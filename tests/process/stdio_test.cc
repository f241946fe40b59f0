// SPDX-License-Identifier: Apache-2.0
// What the command finds: its descriptors, its environment; and a standard output that belongs to
// it alone.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProcessContext : public Gated {};

TEST_F(ProcessContext, DescriptorsThatWereClosedAreClosedForTheCommandAndNothingBreaks) {
  for (const std::vector<int>& closed : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1, 2}}) {
    // Given
    ProgramSpec spec = run({"--log-level", "debug"}, {"to", file(), "fds", "exit", "7"});
    spec.closed = closed;
    // When
    Program program(spec);
    const auto code = program.exit_code();
    // Then
    EXPECT_EQ(code, 7);
    for (int fd = 0; fd < 3; ++fd) {
      const bool is_closed = std::find(closed.begin(), closed.end(), fd) != closed.end();
      EXPECT_THAT(read_file(file()),
                  HasSubstr("fd " + std::to_string(fd) + (is_closed ? " closed\n" : " open\n")));
    }
    ::unlink(file().c_str());
  }
}

TEST_F(ProcessContext, OtherDescriptorsAreInheritedAndThoseOfCronlatchAreNot) {
  // Given
  const int extra = ::fcntl(0, F_DUPFD_CLOEXEC, 200);
  ProgramSpec spec = run({}, {"fds"});
  spec.inherited = {extra};
  // When
  Program program(spec);
  ASSERT_EQ(program.exit_code(), 0);
  // Then
  EXPECT_THAT(program.out(), HasSubstr("fd " + std::to_string(extra) + " open\n"));
  const std::size_t inherited_fd = 1;  // the lock's own, on purpose
  Program bare({.argv = {talking_child(), "fds"}, .inherited = {extra}});
  ASSERT_EQ(bare.exit_code(), 0);
  EXPECT_EQ(count(program.out(), " open\n"), count(bare.out(), " open\n") + inherited_fd)
      << program.out();
  ::close(extra);
}

TEST_F(ProcessContext, StandardOutputBelongsToTheCommand) {
  // Given
  Program holder(run({"--log-level", "debug"}, {"say", "mine", "await", go()}));
  ASSERT_TRUE(holder.says("mine"));
  // When
  Program skipped(run({"--log-level", "debug"}, {"say", "never"}));
  const auto code = skipped.exit_code();
  touch(go());
  // Then
  EXPECT_EQ(code, 0);
  EXPECT_EQ(skipped.out(), "");
  EXPECT_THAT(skipped.err(), HasSubstr("skipped"));
  EXPECT_EQ(holder.exit_code(), 0);
  EXPECT_EQ(holder.out(), "mine\n");
}

TEST_F(ProcessContext, AReaderOfStandardOutputThatHasLeftEndsASubcommandSilently) {
  for (const std::string& words :
       Words{"help options", "config --store " + store, "as lockrun --help"}) {
    // Given
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    const std::string fd = std::to_string(ends[1]);
    // When
    Program program({.argv = {"/bin/bash", "-c", binary() + " " + words + " >&" + fd + "; exit $?"},
                     .inherited = {ends[1]}});
    // Then
    EXPECT_EQ(program.exit_code(), 128 + SIGPIPE) << words << program.err();
    EXPECT_EQ(program.err(), "") << words;
    ::close(ends[1]);
  }
}

TEST_F(ProcessContext, AStandardErrorWithoutAReaderDoesNotEndTheRun) {
  // Given
  Program program(run({"--log-level", "debug", "--warn-after", "100ms"},
                      {"say", "up", "await", go(), "exit", "7"}));
  ASSERT_TRUE(program.says("up"));
  // When
  program.stop_listening();
  const bool ended = program.exit_code(300ms).has_value();
  touch(go());
  // Then
  EXPECT_FALSE(ended);
  EXPECT_EQ(program.exit_code(), 7);
}

TEST_F(ProcessContext, StandardInputBelongsToTheCommand) {
  // Given
  Program program(run({}, {"read", "read"}));
  // When
  program.type("hello\n");
  program.close_input();
  // Then
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_EQ(program.out(), "read hello\neof\n");
}

TEST_F(ProcessContext, EnvironmentContainsTheGrantAndNeitherThisRunsOptionsNorThePassword) {
  // Given
  ProgramSpec spec{
      .argv = {binary(), "run", "--", talking_child(), "env", "CRONLATCH_", "env", "KEPT"},
      .env = {"PATH=/usr/bin:/bin", "KEPT=1", "CRONLATCH_STORE=" + store, "CRONLATCH_LOCK=job",
              "CRONLATCH_HOLDER=me", "CRONLATCH_PASSWORD=secret", "CRONLATCH_MAX_RUN=1h"}};
  // When
  Program program(spec);
  ASSERT_EQ(program.exit_code(), 0) << program.err();
  // Then
  const std::string& env = program.out();
  EXPECT_THAT(env, HasSubstr("env CRONLATCH_LOCK_NAME=job\n"));
  EXPECT_THAT(env, HasSubstr("env CRONLATCH_LOCK_HOLDER=me\n"));
  EXPECT_GT(std::strtoull(program.word_after("CRONLATCH_FENCE=").c_str(), nullptr, 10), 0u);
  EXPECT_THAT(env, HasSubstr("env CRONLATCH_STORE=" + store + "\n"));
  EXPECT_THAT(env, HasSubstr("env KEPT=1\n"));
  for (const char* gone :
       {"CRONLATCH_LOCK=", "CRONLATCH_HOLDER=", "CRONLATCH_MAX_RUN=", "PASSWORD", "secret"})
    EXPECT_THAT(env, Not(HasSubstr(gone)));
}

}  // namespace
}  // namespace cronlatch::testing
