// SPDX-License-Identifier: Apache-2.0
#include "base/shell_text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

namespace cronlatch {
namespace {

TEST(ShellText, QuotesOnlyWhereItIsNeeded) {
  EXPECT_EQ(shell_word("--store=file:///run/a"), "--store=file:///run/a");
  EXPECT_EQ(shell_word("/usr/bin/a-b_c.d,e@f%g+h"), "/usr/bin/a-b_c.d,e@f%g+h");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("A=1"), "'A=1'");
  EXPECT_EQ(shell_text(std::vector<std::string>{"echo", "a  b", "$x"}), "echo 'a  b' '$x'");
}

// With a real shell: every byte, and words that have a meaning for it.
TEST(ShellText, IsReadBackByAShell) {
  std::vector<std::string> words = {"printf", "%s\\0", "a b", "$HOME", "`id`", "~", "#", "*", "a'b",
                                    "\"",     "\\",    "!",   "A=1",   "",     "&", ";", "\n"};
  for (int byte = 1; byte < 256; ++byte) words.emplace_back(1, static_cast<char>(byte));
  std::string expected;
  for (std::size_t i = 2; i < words.size(); ++i) expected += words[i] + '\0';

  FILE* const shell = popen(shell_text(words).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string got;
  for (int c = fgetc(shell); c != EOF; c = fgetc(shell)) got += static_cast<char>(c);
  EXPECT_EQ(pclose(shell), 0);
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace cronlatch
