// SPDX-License-Identifier: Apache-2.0
// docs/reference/metrics.md.
#include "metrics/metrics_table.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "gen/markdown.h"
#include "gen/pages.h"

namespace cronlatch::gen {
namespace {

std::string label_values(const Metric& metric) {
  if (metric.label.empty()) return "";
  std::string out = code(metric.label);
  if (const auto* series = std::get_if<std::span<const CounterSeries>>(&metric.source)) {
    for (const CounterSeries& one : *series)
      out += (&one == series->data() ? ": " : ", ") + std::string(one.label_value);
  }
  if (std::holds_alternative<PercentileSource>(metric.source))
    for (const Percentile& one : kPercentiles)
      out += (&one == kPercentiles.data() ? ": " : ", ") + std::string(one.label_value);
  return out;
}

std::string metric_rows(const std::vector<MetricExporter>& of, const char* labels) {
  std::string out = header({"name", "type", labels, "meaning"});
  for (const Metric& metric : metric_table())
    if (std::ranges::find(of, metric.exporter) != of.end())
      out += row({code(metric.name), std::string(name_of(metric.type)), label_values(metric),
                  std::string(metric.help)});
  return out;
}

}  // namespace

std::string metrics_page() {
  std::string out = "# Metrics\n\n" + generated_from("`src/metrics/metrics_table.cc`") + R"(
`cronlatch metrics` prints the lock statistics in the store as Prometheus text. `metrics-file` receives the same for the
lock of one run. The operator's leader exports all of them. Every series of the first two tables has the labels
`namespace`, `cronjob` (both from the option `job`) and `lock`.

## Of a lock

)" + metric_rows({MetricExporter::lock_stats, MetricExporter::run}, "more labels");
  out += R"(
## Of a gated CronJob (the operator's leader)

)" + metric_rows({MetricExporter::cronjob}, "more labels");
  return out + R"(
## Of the operator itself

Every replica exports these, without the labels above. Only the leader counts in `cronlatch_gated_cronjobs` and
`cronlatch_ungated_jobs_total`.

)" + metric_rows({MetricExporter::own}, "labels");
}

}  // namespace cronlatch::gen
