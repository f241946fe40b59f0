// SPDX-License-Identifier: Apache-2.0
// The table of other programs, and the command line that --explain prints.
#include "programs/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cronlatch {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Program, EveryNameFindsItsOwnRow) {
  std::set<std::string_view> names;
  for (const OtherProgram& program : program_table()) {
    EXPECT_TRUE(names.insert(program.name).second) << program.name;
    EXPECT_EQ(find_program(program.name), &program);
    EXPECT_THAT(program_names(), HasSubstr(program.name));
  }
  for (const char* other : {"", "cronlatch", "lockrun2", "Lockrun"})
    EXPECT_EQ(find_program(other), nullptr) << other;
}

TEST(Program, EveryHelpPageFitsAScreenAndNamesTheProgram) {
  for (const OtherProgram& program : program_table()) {
    EXPECT_THAT(program.help, StartsWith("  " + std::string(program.name) + ' '));
    EXPECT_THAT(program.help, HasSubstr("--explain"));
    EXPECT_LE(std::ranges::count(program.help, '\n'), 24) << program.name;
    for (std::string_view rest = program.help; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      EXPECT_LE(end, 80U) << rest.substr(0, end);
      rest.remove_prefix(end + 1);
    }
  }
}

TEST(Program, PrintsTheNativeCommandLineForAShell) {
  EXPECT_EQ(native_command_line({.options = {"--lock-file=/a b", "--on-busy=wait"},
                                 .command = {"sh", "-c", "echo $x"}}),
            "cronlatch run '--lock-file=/a b' --on-busy=wait -- sh -c 'echo $x'\n");
  EXPECT_EQ(native_command_line(NativeRelease{.lock = "a", .options = {"--store=redis://h"}}),
            "cronlatch release a --force --no-wait --store=redis://h\n");
}

// With --isolated, the variable would have no effect.
TEST(Program, PrintsTheVariableOfAPasswordAndNeverThePassword) {
  EXPECT_EQ(native_command_line({.options = {"--isolated", "--store=redis://h"},
                                 .command = {"job"},
                                 .password = Secret("open sesame"),
                                 .password_text = "$CRONLOCK_AUTH"}),
            "CRONLATCH_PASSWORD=\"$CRONLOCK_AUTH\" cronlatch run --store=redis://h -- job\n");
}

}  // namespace
}  // namespace cronlatch
