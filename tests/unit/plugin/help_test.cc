// SPDX-License-Identifier: Apache-2.0
// Every verb and every flag has a help text. tests/unit/gen compares docs/kubectl.md with the
// tables.
#include "plugin/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "no_cluster.h"
#include "plugin/flag.h"
#include "plugin/run_verb.h"
#include "support/program.h"
#include "support/source_dir.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PluginHelp, EveryVerbHasAFunctionAndAHelpText) {
  for (const Verb& verb : verb_table()) {
    EXPECT_FALSE(verb.help.empty()) << verb.name;
    EXPECT_NE(verb.function, nullptr) << verb.name;
    EXPECT_THAT(help_text(), HasSubstr("\n  " + std::string(verb.name) + ' '));
    EXPECT_THAT(help_text(verb), HasSubstr(std::string(verb.help)));
  }
}

// A function `Result<Output> NAME(const Arguments&, const Context&)` in a header is a verb.
TEST(PluginHelp, EveryFunctionOfAVerbHasARow) {
  const std::regex declaration(
      R"(\nResult<Output> (\w+)\(const Arguments& arguments,\s+const Context& context\);)");
  std::size_t functions = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(cronlatch::testing::source_dir() + "/src/plugin")) {
    if (file.path().extension() != ".h") continue;
    const std::string text = testing::read_file(file.path());
    for (std::sregex_iterator found(text.begin(), text.end(), declaration), end; found != end;
         ++found) {
      ++functions;
      std::string name = (*found)[1];
      std::replace(name.begin(), name.end(), '_', '-');
      EXPECT_NE(find_verb(name), nullptr) << name << " has no row in src/plugin/verb.cc";
    }
  }
  EXPECT_GE(functions, 3U);
}

TEST(PluginHelp, EveryFlagHasAHelpTextAndAVerb) {
  for (const Flag& flag : flag_table()) {
    EXPECT_FALSE(flag.help.empty()) << flag.name;
    bool accepted = false;
    for (const Verb& verb : verb_table()) {
      if (!verb.accepts(flag.name)) continue;
      accepted = true;
      EXPECT_THAT(help_text(verb), HasSubstr(std::string(flag.name)));
    }
    EXPECT_TRUE(accepted) << flag.name;
  }
}

TEST(PluginHelp, VerbsAcceptOnlyFlagsOfTheTable) {
  for (const Verb& verb : verb_table()) {
    std::istringstream names{std::string(verb.flags)};
    for (std::string name; names >> name;) {
      bool found = false;
      for (const Flag& flag : flag_table()) found = found || flag.name == name;
      EXPECT_TRUE(found) << verb.name << ' ' << name;
    }
  }
}

TEST(PluginHelp, FitsATerminal) {
  std::vector<std::string> pages = {help_text()};
  for (const Verb& verb : verb_table()) pages.push_back(help_text(verb));
  for (const std::string& page : pages) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

std::string printed(const std::vector<std::string>& words) {
  const auto arguments = parse_arguments(words, {});
  if (!arguments) return arguments.error().message;
  NoKubectl kubectl;
  NoClock clock;
  const Context context{kubectl, clock, {}, {}, {}};
  std::string text;
  const auto status = run_verb(*arguments, context, [&](const std::string& one) -> Status {
    text += one;
    return Done{};
  });
  return status ? text : status.error().message;
}

TEST(PluginHelp, FlagAndVerbPrintTheSameText) {
  EXPECT_EQ(printed({"help"}), help_text());
  EXPECT_EQ(printed({"--help"}), help_text());
  EXPECT_EQ(printed({"-w", "-h", "-o", "json"}), help_text());
  EXPECT_EQ(printed({"help", "why"}), help_text(*find_verb("why")));
  EXPECT_EQ(printed({"why", "--help"}), help_text(*find_verb("why")));
  EXPECT_THAT(help_text(*find_verb("why")), Not(HasSubstr("--force")));
  EXPECT_THAT(printed({"help", "frobnicate"}), HasSubstr("unknown command \"frobnicate\""));
}

}  // namespace
}  // namespace cronlatch::plugin
