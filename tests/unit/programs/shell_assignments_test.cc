// SPDX-License-Identifier: Apache-2.0
#include "programs/shell_assignments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<std::vector<ShellAssignment>> parse(std::string_view text) {
  return parse_shell_assignments("/etc/cronlock.conf", text, "CRONLOCK_AUTH");
}

std::string value_of(std::string_view text) {
  const auto parsed = parse("A=" + std::string(text));
  if (!parsed || parsed->size() != 1) return "(error)";
  return parsed->front().value;
}

TEST(ShellAssignments, HaveTheQuotesOfAShell) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"a", "a"},
                                                       {"'a b'", "a b"},
                                                       {"\"a b\"", "a b"},
                                                       {"a'b c'd", "ab cd"},
                                                       {"\"a\\\"b\\$c\\n\"", "a\"b$c\\n"},
                                                       {"a\\ b", "a b"},
                                                       {"'$x `y`'", "$x `y`"},
                                                       {"a#b", "a#b"},
                                                       {"a # note", "a"},
                                                       {"a   ", "a"},
                                                       {"''", ""},
                                                       {"*.c", "*.c"},
                                                       {"a=b", "a=b"}};
  for (const auto& [text, value] : cases) EXPECT_EQ(value_of(text), value) << text;
}

TEST(ShellAssignments, MayBeExportedAndHaveCommentsAround) {
  const auto parsed = parse("# a file\n\n  CRONLOCK_HOST=h # the host\nexport CRONLOCK_PORT='1'\n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 2U);
  EXPECT_EQ(parsed->at(0).name + parsed->at(0).value, "CRONLOCK_HOSTh");
  EXPECT_EQ(parsed->at(1).name + parsed->at(1).value, "CRONLOCK_PORT1");
  EXPECT_EQ(parsed->at(1).where, "/etc/cronlock.conf:4");
}

TEST(ShellAssignments, ALineThatNeedsAShellIsAnErrorWithItsText) {
  for (const std::string line :
       {"A=$(date)", "A=`date`", "A=\"$HOME\"",   "A=$HOME",   "A=a; date", "A=a B=b",
        "A=(1 2)",   "A+=b",     "if true; then", "source /x", "date",      "A=~/x",
        "A=a:~/x",   "A=a&",     "A=a|b",         "A=<x",      "A='open",   "A=\"open",
        "A=a\\",     "A =b",     "1A=b",          "=b",        "unset A"}) {
    const auto parsed = parse("# first\n" + line + "\n");
    ASSERT_FALSE(parsed.ok()) << line;
    EXPECT_EQ(parsed.error().code, Code::config);
    EXPECT_THAT(parsed.error().message, HasSubstr("/etc/cronlock.conf:2: "));
    EXPECT_THAT(parsed.error().message, HasSubstr(line.substr(0, 3)));
    EXPECT_THAT(parsed.error().message, HasSubstr("needs a shell"));
  }
}

TEST(ShellAssignments, AWindowsLineEndIsNamed) {
  const auto parsed = parse("\xEF\xBB\xBF# first\r\nCRONLOCK_AUTH=sesame\r\n");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "/etc/cronlock.conf:2: the line has a Windows line end");
  EXPECT_TRUE(parse("\xEF\xBB\xBF"
                    "CRONLOCK_DB=1\n")
                  .ok());
}

TEST(ShellAssignments, TheErrorOfAPasswordDoesNotContainIt) {
  for (const std::string line : {"CRONLOCK_AUTH=\"sesame$\"", "x CRONLOCK_AUTH=sesame",
                                 "CRONLOCK_AUTH = sesame", "export CRONLOCK_AUTH=sesame;"}) {
    const auto parsed = parse(line);
    ASSERT_FALSE(parsed.ok()) << line;
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("sesame")));
    EXPECT_THAT(parsed.error().message, HasSubstr("CRONLOCK_AUTH=..."));
  }
}

}  // namespace
}  // namespace cronlatch
