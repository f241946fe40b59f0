// SPDX-License-Identifier: Apache-2.0
#include "gen/pages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "admission/annotations.h"
#include "admission/lock_request.h"
#include "admission/settings_checks.h"
#include "core/outcome.h"
#include "kube/json.h"
#include "metrics/metrics_table.h"
#include "options/options.h"
#include "plugin/flag.h"
#include "plugin/verb.h"
#include "support/source_dir.h"

namespace cronlatch::gen {
namespace {

std::string committed(const std::string& path) {
  std::ifstream file(cronlatch::testing::source_dir() + "/" + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string page(const std::string& path) {
  for (const Page& one : pages())
    if (one.path == path) return one.text;
  return "";
}

TEST(Pages, AreCommittedAsTheyAreRendered) {
  for (const Page& one : pages())
    EXPECT_TRUE(committed(one.path) == one.text) << one.path << " is out of date: run ./dev gen";
}

TEST(Sections, AreCommittedAsTheyAreRendered) {
  for (const PageSection& one : sections()) {
    const std::string file = committed(one.path);
    const auto rendered = with_section(file, one);
    ASSERT_TRUE(rendered) << one.path << " does not contain the lines around the section";
    EXPECT_TRUE(*rendered == file) << one.path << " is out of date: run ./dev gen";
  }
}

TEST(Sections, ReplaceOnlyTheLinesBetweenTheirMarks) {
  const PageSection section{"a", "begin", "end", "new\n"};
  EXPECT_EQ(with_section("x\nbegin\nold\nend\ny\n", section), "x\nbegin\nnew\nend\ny\n");
  EXPECT_EQ(with_section("x\nbegin\nold\n", section), std::nullopt);
  EXPECT_EQ(with_section("end\nold\nbegin\n", section), std::nullopt);
}

TEST(Pages, HaveARowForEverything) {
  const std::string options = page("docs/reference/options.md"),
                    outcomes = page("docs/reference/outcomes.md"),
                    codes = page("docs/reference/exit-codes.md"),
                    metrics = page("docs/reference/metrics.md"),
                    settings = page("docs/reference/operator.md"), annotations = annotation_table();
  const auto has_row = [](const std::string& text, const std::string& first_cell) {
    return text.find("\n| " + first_cell + " |") != std::string::npos;
  };
  const auto quoted = [](std::string_view name) { return "`" + std::string(name) + "`"; };
  for (const Option& option : option_table()) {
    EXPECT_TRUE(has_row(options, quoted(option.key))) << option.key;
    EXPECT_EQ(has_row(annotations, quoted("cronlatch.dev/" + std::string(option.key))),
              option.annotatable())
        << option.key;
  }
  for (const std::string_view key : op::extra_annotations())
    EXPECT_TRUE(has_row(annotations, quoted("cronlatch.dev/" + std::string(key)))) << key;
  for (const KindRow& row : kind_table())
    EXPECT_TRUE(has_row(outcomes, quoted(row.name))) << row.name;
  for (const ReasonRow& row : reason_table())
    EXPECT_TRUE(has_row(outcomes, quoted(row.name))) << row.name;
  for (const ExitRow& row : exit_table())
    EXPECT_TRUE(has_row(codes, std::string(row.code))) << row.code;
  for (const plugin::Verb& verb : plugin::verb_table())
    EXPECT_NE(kubectl_verbs_table().find("\n| `kubectl cronlatch " + std::string(verb.name)),
              std::string::npos)
        << verb.name;
  for (const plugin::Flag& flag : plugin::flag_table())
    EXPECT_NE(kubectl_flags_table().find("\n| `" + std::string(flag.name)), std::string::npos)
        << flag.name;
  for (const Metric& metric : metric_table())
    EXPECT_TRUE(has_row(metrics, quoted(metric.name))) << metric.name;
  for (const op::SettingRow& row : op::setting_rows())
    EXPECT_TRUE(has_row(settings, quoted(row.key))) << row.key;
}

// What a value of the chart can be comes from the same rows as what the operator accepts.
TEST(ChartOptions, AreThoseThatTheOperatorAcceptsAsDefaults) {
  const kube::Json schema = kube::Json::parse(committed("charts/cronlatch/values.schema.json"));
  const kube::Json& of_runs = schema["definitions"]["runOptions"]["properties"];
  const kube::Json& of_all = schema["definitions"]["allOptions"]["properties"];
  for (const Option& option : option_table()) {
    const std::string key(option.key);
    EXPECT_EQ(of_all.contains(key), option.cluster_default) << key;
    EXPECT_EQ(of_runs.contains(key), option.annotatable() && key != "lock") << key;
    const Status refused = op::check_default(key, "");
    EXPECT_EQ(refused.error().message == key + " cannot be set for all runs",
              !option.cluster_default)
        << key;
  }
}

TEST(AllOptionsExample, IsAccepted) {
  op::Annotations annotations;
  for (const Option& option : option_table())
    if (option.annotatable())
      annotations[std::string(option.key)] = {std::string(option.annotation.example), "here"};
  op::Findings findings;
  (void)op::read_lock_request(annotations, op::Settings{}, "demo", findings);
  EXPECT_TRUE(findings.empty());
}

}  // namespace
}  // namespace cronlatch::gen
