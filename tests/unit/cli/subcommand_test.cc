// SPDX-License-Identifier: Apache-2.0
// Finding a subcommand, its help flag and its output format.
#include "cli/subcommand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "cli/session.h"
#include "support/program.h"
#include "support/source_dir.h"
#include "unit/cli/fixed_clock.h"

namespace cronlatch {
namespace {

using ::testing::HasSubstr;

TEST(Subcommand, EveryNameFindsItsOwnRow) {
  std::set<std::string_view> names;
  for (const Subcommand& subcommand : subcommand_table()) {
    EXPECT_TRUE(names.insert(subcommand.name).second);
    EXPECT_EQ(find_subcommand(subcommand.name), &subcommand);
  }
}

// A function `Result<CommandOutput> NAME_command(const Invocation&)` of the header is a subcommand.
TEST(Subcommand, EveryFunctionHasARowOfItsName) {
  const std::string header = testing::read_file(testing::source_dir() + "/src/cli/subcommand.h");
  const std::regex declaration(R"(\nResult<CommandOutput> (\w+)_command\()");
  std::set<std::string> declared, rows;
  for (std::sregex_iterator found(header.begin(), header.end(), declaration), end; found != end;
       ++found)
    declared.insert((*found)[1]);
  for (const Subcommand& subcommand : subcommand_table()) rows.emplace(subcommand.name);
  EXPECT_EQ(rows, declared);
}

TEST(Subcommand, HelpAndVersionHaveFlags) {
  for (const char* flag : {"--help", "-h"}) EXPECT_EQ(find_subcommand(flag)->name, "help");
  for (const char* flag : {"--version", "-V"}) EXPECT_EQ(find_subcommand(flag)->name, "version");
}

TEST(Subcommand, ATypingErrorNamesTheNearestSubcommand) {
  const std::pair<const char*, const char*> cases[] = {
      {"rnu", "run"}, {"runn", "run"}, {"realease", "release"}, {"metric", "metrics"}};
  for (const auto& [wrong, right] : cases) {
    const Error error = unknown_subcommand(wrong);

    EXPECT_EQ(error.code, Code::usage);
    EXPECT_THAT(error.message, HasSubstr(wrong));
    EXPECT_THAT(error.hint, HasSubstr(std::string("did you mean ") + right + '?'));
  }
}

TEST(Subcommand, AnotherWordNamesNoSubcommand) {
  for (const char* wrong : {"", "x", "frobnicate", "sh"})
    EXPECT_EQ(unknown_subcommand(wrong).hint.find("did you mean"), std::string::npos) << wrong;
}

TEST(Subcommand, ACommandInPlaceOfASubcommandNamesRun) {
  for (const char* wrong : {"/usr/bin/backup", "--lock"})
    EXPECT_THAT(unknown_subcommand(wrong).hint, HasSubstr("cronlatch run")) << wrong;
}

TEST(Subcommand, HelpFlagCountsOnlyInThePlaceOfAnOption) {
  EXPECT_TRUE(requests_help({"--help"}));
  EXPECT_TRUE(requests_help({"--lock", "x", "-h", "--", "true"}));
  EXPECT_FALSE(requests_help({"--", "true", "--help"}));
  EXPECT_FALSE(requests_help({"--lock", "--help"}));
  EXPECT_FALSE(requests_help({}));
}

TEST(Subcommand, OutputFormatIsTableOrJson) {
  // given
  LoadedOptions loaded;

  // then
  EXPECT_EQ(*output_format(loaded), Format::table);
  loaded.extras["-o"] = "json";
  EXPECT_EQ(*output_format(loaded), Format::json);
  loaded.extras["-o"] = "yaml";
  ASSERT_FALSE(output_format(loaded).ok());
  EXPECT_EQ(output_format(loaded).error().code, Code::usage);
  EXPECT_THAT(output_format(loaded).error().hint, HasSubstr("-o json"));
  loaded.extras = {{"--output", "json"}};
  EXPECT_EQ(*output_format(loaded), Format::json);
  loaded.extras = {{"-o", "json"}, {"--output", "table"}};
  ASSERT_FALSE(output_format(loaded).ok());
  EXPECT_THAT(output_format(loaded).error().message, HasSubstr("-o and --output"));
}

// What each subcommand refuses before it opens anything.
TEST(Subcommand, WrongArgumentsAreUsageErrorsWithAHint) {
  struct Case {
    const char* name;
    std::vector<std::string> arguments;
  };
  // `run` is not here: it blocks the signals of the whole process.
  const Case cases[] = {{"explain", {}},
                        {"as", {}},
                        {"as", {"lockrum", "-L", "a"}},
                        {"explain", {"-o", "xml", "--", "true"}},
                        {"ls", {"more"}},
                        {"ls", {"-o", "yaml"}},
                        {"ls", {"--force"}},
                        {"show", {}},
                        {"show", {"a", "b"}},
                        {"release", {"--force"}},
                        {"hold", {"--for", "1h", "--reason", "x"}},
                        {"hold", {"a", "--reason", "x"}},
                        {"hold", {"a", "--for", "1h"}},
                        {"hold", {"a", "--for", "1h", "--reason", ""}},
                        {"hold", {"a", "--for", "31d", "--reason", "x"}},
                        {"hold", {"a", "--for", "0", "--reason", "x"}},
                        {"hold", {"a", "--for", "1h", "--reason", "x", "--max-run", "1m"}},
                        {"hold", {"a", "--for", "1h", "--reason", "x", "--on-busy", "skip"}},
                        {"hold", {"a", "--for", "1h", "--reason", "x", "--on-store-down", "run"}},
                        {"store", {}},
                        {"store", {"ini"}},
                        {"sleep", {}},
                        {"sleep", {"forever"}},
                        {"demo", {"x"}},
                        {"release", {"a", "--forec"}},
                        {"metrics", {"-o", "json"}},
                        {"config", {"-o", "toml"}},
                        {"install", {}},
                        {"install", {"a", "b"}},
                        {"version", {"x"}},
                        {"help", {"nothing"}}};
  const FixedClock clock;
  for (const Case& c : cases) {
    const Result<CommandOutput> printed =
        find_subcommand(c.name)->function({c.arguments, {}, clock});

    ASSERT_FALSE(printed.ok()) << c.name;
    EXPECT_EQ(printed.error().code, Code::usage) << c.name << ": " << printed.error().message;
    EXPECT_FALSE(printed.error().hint.empty()) << c.name << ": " << printed.error().message;
  }
}

TEST(Subcommand, AnErrorContainsTheFlagThatWasWritten) {
  struct Case {
    const char* name;
    std::vector<std::string> arguments;
    const char* message;
  };
  const Case cases[] = {
      {"hold", {"a", "--for", "1h", "--reason", ""}, "hold: the flag --reason is empty"},
      {"hold", {"a", "--for", "1h", "--reason", "a\nb"}, "hold: --reason: \"a\\nb\""},
      {"hold", {"a", "--for", "1 h", "--reason", "b"}, "hold: --for: \"1 h\""},
      {"store", {}, "store: no action is given"}};
  const FixedClock clock;
  for (const Case& c : cases) {
    const Result<CommandOutput> printed =
        find_subcommand(c.name)->function({c.arguments, {}, clock});

    ASSERT_FALSE(printed.ok()) << c.message;
    EXPECT_THAT(printed.error().message, HasSubstr(c.message));
    EXPECT_EQ(printed.error().message.find("--holder"), std::string::npos);
  }
}

}  // namespace
}  // namespace cronlatch
