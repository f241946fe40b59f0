// SPDX-License-Identifier: Apache-2.0
// Help pages fit a terminal and follow the tables.
#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "options/options.h"
#include "programs/program.h"
#include "unit/cli/fixed_clock.h"

namespace cronlatch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& page) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = page.find('\n', at);
    lines.push_back(page.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void expect_columns(const std::string& page, std::size_t columns) {
  ASSERT_TRUE(page.ends_with('\n'));
  for (const std::string& line : lines_of(page)) EXPECT_LE(line.size(), columns) << line;
}

void expect_screen(const std::string& page) {
  expect_columns(page, 80);
  EXPECT_LE(lines_of(page).size(), 24U) << page;
}

std::string topic(const std::string& name) {
  FixedClock clock;
  const Result<CommandOutput> page = help_command({{name}, {}, clock});
  return page ? page->text : "";
}

TEST(Help, FitsOneScreenAndStartsWithAnExample) {
  const std::string page = help_page();

  expect_screen(page);
  EXPECT_THAT(page, StartsWith("  cronlatch run "));
}

TEST(Help, ListsEverySubcommand) {
  const std::string page = help_page();

  for (const Subcommand& subcommand : subcommand_table())
    EXPECT_THAT(page, HasSubstr("\n  " + std::string(subcommand.name) + ' ')) << subcommand.name;
}

TEST(Help, EverySubcommandHasAScreenThatStartsWithItsExample) {
  for (const Subcommand& subcommand : subcommand_table()) {
    const std::string page = help_page(subcommand);

    expect_screen(page);
    EXPECT_THAT(page, StartsWith("  cronlatch " + std::string(subcommand.name)));
    EXPECT_EQ(topic(std::string(subcommand.name)), page);
  }
}

TEST(Help, EveryOtherProgramHasAPage) {
  for (const OtherProgram& program : program_table()) {
    EXPECT_EQ(topic(std::string(program.name)), program.help);
    EXPECT_THAT(help_page(*find_subcommand("as")), HasSubstr(program.name));
  }
}

TEST(Help, OptionsTopicContainsEveryRow) {
  const std::string page = topic("options");

  expect_columns(page, 80);
  for (const Option& option : option_table())
    EXPECT_THAT(page, HasSubstr("\n  " + flag_of(option) + "  (")) << option.key;
}

TEST(Help, ExitCodesTopicContainsEveryRow) {
  const std::string page = topic("exit-codes");

  expect_screen(page);
  for (const ExitRow& row : exit_table())
    EXPECT_THAT(page, HasSubstr("\n  " + std::string(row.code) + ' ')) << row.code;
}

TEST(Help, OutcomesTopicContainsEveryKindAndReason) {
  const std::string page = topic("outcomes");

  expect_columns(page, 80);
  for (const KindRow& row : kind_table())
    EXPECT_THAT(page, HasSubstr("\n  " + std::string(row.name) + ' ')) << row.name;
  for (const ReasonRow& row : reason_table())
    EXPECT_THAT(page, HasSubstr("\n  " + std::string(row.name) + ' ')) << row.name;
}

TEST(Help, EnvironmentTopicContainsTheVariablesThatAreReadAndSet) {
  const std::string page = topic("environment");

  expect_columns(page, 80);
  for (const Option& option : option_table())
    EXPECT_THAT(page, HasSubstr("\n  " + variable_of(option))) << option.key;
  for (const char* given : {"CRONLATCH_LOCK_NAME", "CRONLATCH_FENCE", "CRONLATCH_LOCK_HOLDER",
                            "CRONLATCH_LEASE_MS", "CRONLATCH_SCHEDULED_TIME"})
    EXPECT_THAT(page, HasSubstr(std::string("\n  ") + given + ' '));
  EXPECT_THAT(page, HasSubstr("\n  CRONLATCH_LOCK *\n"));
  EXPECT_THAT(page, HasSubstr("\n  CRONLATCH_STORE\n"));
}

TEST(Help, UnknownTopicIsAUsageError) {
  FixedClock clock;

  const Result<CommandOutput> page = help_command({{"exitcodes"}, {}, clock});

  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().code, Code::usage);
  EXPECT_THAT(page.error().hint, HasSubstr("exit-codes"));
}

}  // namespace
}  // namespace cronlatch
