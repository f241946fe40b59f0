// SPDX-License-Identifier: Apache-2.0
// The chart's policy accepts what the option table accepts. tests/chart/policy_mode_test.sh
// compares the rewrite of the policy with that of the operator.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gen/pages.h"
#include "kube/json.h"
#include "options/options.h"
#include "support/program.h"
#include "support/source_dir.h"

namespace cronlatch::gen {
namespace {

// The JSON between the template's define and end.
kube::Json rendered() {
  const std::string text = policy_options();
  const std::size_t from = text.find("\n{\"") + 1;
  return kube::Json::parse(text.substr(from, text.find("{{- end", from) - from));
}

bool accepts(const std::string& key, const std::string& value) {
  Options options;
  const Option* const option = find_option(key);
  return option != nullptr && set_option(options, *option, value).ok();
}

TEST(PolicyOptions, HaveTheRangesOfTheTable) {
  const kube::Json options = rendered();
  for (const auto& [unit, list] : {std::pair("s", "durations"), std::pair("", "numbers")}) {
    EXPECT_FALSE(options[list].empty()) << list;
    for (const auto& [key, range] : options[list].items()) {
      const int from = range[0], to = range[1];
      EXPECT_TRUE(accepts(key, std::to_string(from) + unit)) << key;
      EXPECT_TRUE(accepts(key, std::to_string(to) + unit)) << key;
      EXPECT_FALSE(accepts(key, std::to_string(to + 1) + unit)) << key;
      // The operator reads a zero, which has no unit.
      EXPECT_TRUE(from == 1 || !accepts(key, std::to_string(from - 1) + unit)) << key;
    }
  }
}

TEST(PolicyOptions, HaveTheWordsOfTheTable) {
  const kube::Json options = rendered();
  EXPECT_FALSE(options["words"].empty());
  for (const auto& [key, words] : options["words"].items())
    for (const kube::Json& word : words)
      EXPECT_TRUE(accepts(key, word.get<std::string>())) << key << ' ' << word;
}

TEST(PolicyOptions, ContainEachAnnotationOnce) {
  const kube::Json options = rendered();
  for (const Option& option : option_table()) {
    const std::string key(option.key);
    const std::size_t found = options["durations"].count(key) + options["numbers"].count(key) +
                              options["words"].count(key);
    const bool is_text = std::holds_alternative<std::string Options::*>(option.field) ||
                         std::holds_alternative<std::vector<std::string> Options::*>(option.field);
    EXPECT_EQ(found, option.annotatable() && !is_text ? 1U : 0U) << key;
  }
}

TEST(PolicyOptions, HaveTheFlagsInTheOrderOfTheTable) {
  std::vector<std::string> keys;
  for (const Option& option : option_table()) keys.emplace_back(option.key);
  EXPECT_EQ(rendered()["flags"].get<std::vector<std::string>>(), keys);
}

// The template computes the values of some flags. A key that is no option would have no effect.
TEST(PolicyOptions, TheTemplateComputesOptionsOnly) {
  const std::string text =
      testing::read_file(testing::source_dir() + "/charts/cronlatch/templates/_cel_gate.tpl");
  const std::size_t from = text.find("$computed := dict");
  ASSERT_NE(from, std::string::npos);
  const std::string computed = text.substr(from, text.find("-}}", from) - from);
  static const std::regex kKey(R"re(\n +"([a-z-]+)" )re");
  std::size_t found = 0;
  for (std::sregex_iterator key(computed.begin(), computed.end(), kKey), end; key != end; ++key) {
    ++found;
    EXPECT_NE(find_option(std::string((*key)[1])), nullptr) << (*key)[1];
  }
  EXPECT_GE(found, 5U);
}

}  // namespace
}  // namespace cronlatch::gen
