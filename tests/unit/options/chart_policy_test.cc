// SPDX-License-Identifier: Apache-2.0
// The chart's policy repeats the keys, ranges, words and order of the option table
// (charts/cronlatch/templates/_cel_gate.tpl): the API server cannot read it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "options/options.h"
#include "support/program.h"
#include "support/source_dir.h"

namespace cronlatch {
namespace {

std::string chart_template(const std::string& name) {
  return testing::read_file(testing::source_dir() + "/charts/cronlatch/templates/" + name);
}

// The lines from the one that contains `from` to the next one that contains `to`.
std::string part(const std::string& from, const std::string& to) {
  const std::string text = chart_template("_cel_gate.tpl");
  const std::size_t begin = text.find(from);
  return begin == std::string::npos ? "" : text.substr(begin, text.find(to, begin) - begin);
}

std::vector<std::smatch> matches(const std::string& text, const char* expression) {
  const std::regex regex(expression);
  return std::vector<std::smatch>(std::sregex_iterator(text.begin(), text.end(), regex),
                                  std::sregex_iterator());
}

struct Seconds {
  long from, to;
};
std::map<std::string, Seconds> policy_durations() {
  const std::string text = part("define \"cronlatch.cel.durations\"", "toJson $limits");
  const std::string year = matches(text, R"(\$year := (\d+))").at(0)[1];
  std::map<std::string, Seconds> found;
  for (const std::smatch& match : matches(text, R"re("([a-z-]+)" \(list (\d+) (\d+|\$year)\))re"))
    found[match[1]] = {std::stol(match[2]),
                       std::stol(match[3] == "$year" ? year : std::string(match[3]))};
  return found;
}

// "skip, wait, fail", as in the option table.
std::map<std::string, std::string> policy_words() {
  const std::string text = part("define \"cronlatch.cel.words\"", "toJson");
  std::map<std::string, std::string> found;
  for (const std::smatch& match : matches(text, R"re("([a-z-]+)" \(list "([a-z" ]+)"\))re"))
    found[match[1]] = std::regex_replace(std::string(match[2]), std::regex("\" \""), ", ");
  return found;
}

std::vector<std::string> keys_in(const std::string& text) {
  std::vector<std::string> keys;
  for (const std::smatch& match : matches(text, R"re("([a-z-]+)"[ \n])re"))
    keys.push_back(match[1]);
  return keys;
}

enum class Kind { duration, number, words, other };
Kind kind_of(const Option& option) {
  return std::visit(
      []<class Value>(Value Options::*) {
        if (std::is_enum_v<Value> || std::is_same_v<Value, bool>) return Kind::words;
        if (std::is_same_v<Value, int>) return Kind::number;
        if (std::is_same_v<Value, Millis> || std::is_same_v<Value, std::optional<Millis>>)
          return Kind::duration;
        return Kind::other;  // the policy leaves such an annotation to the operator
      },
      option.field);
}

std::set<std::string> annotations_of_kind(Kind kind) {
  std::set<std::string> keys;
  for (const Option& option : option_table())
    if (option.annotatable() && kind_of(option) == kind) keys.emplace(option.key);
  return keys;
}

template <class Map>
std::set<std::string> keys_of(const Map& map) {
  std::set<std::string> keys;
  for (const auto& entry : map) keys.insert(entry.first);
  return keys;
}

TEST(ChartPolicy, ContainsEveryDurationWithItsRange) {
  const auto durations = policy_durations();
  std::set<std::string> expected = annotations_of_kind(Kind::duration);
  expected.insert("alert-after");  // an annotation of the operator
  EXPECT_EQ(keys_of(durations), expected);
  for (const auto& [key, seconds] : durations) {
    const Option* const option = find_option(key);
    if (option == nullptr) continue;
    const Millis from{seconds.from * 1000}, to{seconds.to * 1000}, least{1};
    EXPECT_TRUE(is_in_range(option->limits, from)) << key;
    EXPECT_TRUE(is_in_range(option->limits, to)) << key;
    EXPECT_FALSE(is_in_range(option->limits, to + least)) << key;
    // A zero has no unit, and is left to the operator. So is a short ttl, with the other timings.
    const bool is_least = seconds.from == 1 || !is_in_range(option->limits, from - least);
    EXPECT_TRUE(is_least || (key == "ttl" && seconds.from == 30)) << key;
  }
}

TEST(ChartPolicy, ContainsTheWordsOfEveryOption) {
  const auto words = policy_words();
  std::set<std::string> expected = annotations_of_kind(Kind::words);
  expected.insert({"once-per-schedule", "lock-scope"});  // annotations of the operator
  EXPECT_EQ(keys_of(words), expected);
  for (const auto& [key, list] : words)
    if (const Option* const option = find_option(key)) {
      EXPECT_EQ(list, option->limits) << key;
    }
}

TEST(ChartPolicy, ContainsEveryNumber) {
  for (const std::string& key : annotations_of_kind(Kind::number)) {
    EXPECT_NE(chart_template("_cel_gate.tpl").find("(eq $key \"" + key + "\")"), std::string::npos)
        << key;
    EXPECT_NE(chart_template("webhook/mutating_policy.yaml").find(": k == '" + key + "' ?"),
              std::string::npos)
        << key;
  }
}

// Of the annotations, of the value `defaults`, and of the values that the operator computes.
TEST(ChartPolicy, WritesTheFlagsInTheOrderOfTheTable) {
  const std::vector<std::string> computed = keys_in(part("$computed := dict", "-}}"));
  std::vector<std::string> expected;
  for (const Option& option : option_table())
    if (option.annotatable() || option.cluster_default ||
        std::find(computed.begin(), computed.end(), option.key) != computed.end())
      expected.emplace_back(option.key);
  EXPECT_GE(computed.size(), 5U);
  EXPECT_EQ(keys_in(part("range list", "}}")), expected);
}

}  // namespace
}  // namespace cronlatch
