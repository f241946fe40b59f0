// SPDX-License-Identifier: Apache-2.0
// The chart has the limits of the option table. tests/chart/options_test.sh compares its decisions
// with those of the operator.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "admission/annotation_table.h"
#include "admission/annotations.h"
#include "gen/pages.h"
#include "kube/json.h"
#include "options/options.h"
#include "support/program.h"
#include "support/source_dir.h"

namespace cronlatch::gen {
namespace {

// The JSON between the template's define and end.
kube::Json rendered() {
  const std::string text = chart_limits();
  const std::size_t from = text.find("\n{\"") + 1;
  return kube::Json::parse(text.substr(from, text.find("{{- end", from) - from));
}

bool accepts(const std::string& key, const std::string& value) {
  Options options;
  return set_option(options, *find_option(key), value).ok();
}

TEST(ChartLimits, AreThoseOfTheTable) {
  const kube::Json limits = rendered();
  for (const auto& [unit, list] : {std::pair("ms", "durations"), std::pair("", "numbers")}) {
    EXPECT_FALSE(limits[list].empty()) << list;
    for (const auto& [key, range] : limits[list].items()) {
      if (key == "alert-after") continue;
      const std::int64_t from = range[0], to = range[1];
      EXPECT_TRUE(accepts(key, std::to_string(from) + unit)) << key;
      EXPECT_TRUE(accepts(key, std::to_string(to) + unit)) << key;
      EXPECT_FALSE(accepts(key, std::to_string(to + 1) + unit)) << key;
      EXPECT_TRUE(from == 0 || !accepts(key, std::to_string(from - 1) + unit)) << key;
      EXPECT_EQ(range[3], find_option(key)->fallback) << key;
    }
  }
  for (const auto& [key, range] : limits["texts"].items()) {
    EXPECT_TRUE(accepts(key, std::string(range[1].get<std::size_t>(), 'a'))) << key;
    EXPECT_FALSE(accepts(key, std::string(range[1].get<std::size_t>() + 1, 'a'))) << key;
  }
}

TEST(ChartLimits, ContainEachDurationAndNumberThatTheChartAccepts) {
  const kube::Json limits = rendered();
  for (const Option& option : option_table()) {
    const std::string key(option.key);
    const bool is_number = std::holds_alternative<int Options::*>(option.field);
    const bool is_duration = std::holds_alternative<Millis Options::*>(option.field) ||
                             std::holds_alternative<std::optional<Millis> Options::*>(option.field);
    const bool is_value = option.annotatable() || option.cluster_default;
    EXPECT_EQ(limits["durations"].contains(key), is_value && is_duration) << key;
    EXPECT_EQ(limits["numbers"].contains(key), is_value && is_number) << key;
  }
}

// values.schema.json, select[].annotations.
TEST(ChartAnnotations, AreThoseThatTheOperatorAccepts) {
  const kube::Json schema = kube::Json::parse(
      testing::read_file(testing::source_dir() + "/charts/cronlatch/values.schema.json"));
  const kube::Json& annotations = schema["definitions"]["annotations"]["properties"];
  std::size_t count = 0;
  for (const auto& [key, type] : annotations.items()) {
    ++count;
    EXPECT_TRUE(op::is_annotation(key)) << key;
  }
  std::size_t expected = std::size(op::kExtraKeys);
  for (const Option& option : option_table()) expected += option.annotatable() ? 1U : 0U;
  EXPECT_EQ(count, expected);
}

}  // namespace
}  // namespace cronlatch::gen
