// SPDX-License-Identifier: Apache-2.0
// Every row of the metric table has a name, a help and a source; no metric is exported without a
// row.
#include "metrics/metrics_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "core/lock_stats.h"
#include "support/source_dir.h"

namespace cronlatch {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The names of metrics that the operator's sources contain as string literals.
std::set<std::string> names_in_operator() {
  static const std::regex kName("\"((cronlatch|process)_[a-z_]+)\"");
  std::set<std::string> names;
  const auto folder = std::filesystem::path(cronlatch::testing::source_dir()) / "src/operator";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), kName), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  return names;
}

TEST(MetricsTable, EveryCounterOfTheStoreIsExportedOnce) {
  // given
  std::multiset<std::string_view> shown;
  for (const Metric& metric : metric_table()) {
    if (const auto* series = std::get_if<std::span<const CounterSeries>>(&metric.source))
      for (const CounterSeries& s : *series) shown.insert(s.counter);
    if (const auto* gauge = std::get_if<Gauge>(&metric.source)) {
      if (*gauge == Gauge::last_success) shown.insert("last_success");
      if (*gauge == Gauge::last_skip) shown.insert("last_skip");
    }
  }

  // then
  for (const std::string_view counter : kCounterNames)
    EXPECT_EQ(shown.count(counter), 1U) << counter;
  EXPECT_EQ(shown.size(), kCounterNames.size());
}

TEST(MetricsTable, NamesKeepTheConventions) {
  std::set<std::string_view> names;
  for (const Metric& metric : metric_table()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    // The prefix process_ is a convention of Prometheus' client libraries.
    const bool of_process =
        metric.exporter == MetricExporter::own && metric.name.starts_with("process_");
    EXPECT_TRUE(of_process || metric.name.starts_with("cronlatch_")) << metric.name;
    EXPECT_EQ(metric.type == MetricType::counter, metric.name.ends_with("_total")) << metric.name;
    EXPECT_TRUE(metric.help.ends_with('.')) << metric.name;
  }
}

TEST(MetricsTable, TheOperatorSetsEveryRowOfItsOwn) {
  const std::set<std::string> names = names_in_operator();
  for (const Metric& metric : metric_table())
    if (metric.exporter == MetricExporter::own || metric.exporter == MetricExporter::cronjob) {
      EXPECT_TRUE(names.contains(std::string(metric.name)))
          << metric.name << " has a row, but no file in src/operator contains its name";
    }
}

TEST(MetricsTable, EveryMetricOfTheOperatorHasARow) {
  for (const std::string& name : names_in_operator())
    EXPECT_NE(find_metric(name), nullptr)
        << name << " is in src/operator, but not in src/metrics/metrics_table.cc";
}

}  // namespace
}  // namespace cronlatch
