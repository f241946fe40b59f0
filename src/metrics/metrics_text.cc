// SPDX-License-Identifier: Apache-2.0
// Writes the families of the metric table. The format requires that the series of one family are
// adjacent.
#include "metrics/metrics_text.h"

#include <charconv>
#include <set>
#include <span>

#include "base/overloaded.h"
#include "base/text.h"
#include "metrics/metrics_table.h"
#include "metrics/sample_values.h"

namespace cronlatch {
namespace {

// A scrape fails if one label is not UTF-8.
std::string escape(std::string_view value) {
  std::string out;
  for (const char c : valid_utf8(value)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string pair_of(std::string_view name, std::string_view value) {
  return std::string(name) + "=\"" + escape(value) + '"';
}

void head(std::string& out, const Metric& metric) {
  out += "# HELP " + std::string(metric.name) + ' ' + std::string(metric.help) + '\n';
  out += "# TYPE " + std::string(metric.name) + ' ' + std::string(name_of(metric.type)) + '\n';
}

void number(std::string& out, std::string_view name, std::string_view labels,
            std::string_view more_labels, std::int64_t value) {
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(name).append(1, '{').append(labels).append(more_labels).append("} ");
  out.append(digits, static_cast<std::size_t>(end - digits)).append(1, '\n');
}

// The texts that all series of one histogram share, built once for thousands of series.
struct HistogramNames {
  std::string bucket, sum, count;
  std::vector<std::string> counters;  // in the lock statistics, including that of +Inf
  std::vector<std::string> bounds;    // `,le="0.1"`
  std::string total;                  // the counter of the sum in milliseconds
};

HistogramNames names_of(std::string_view name, const HistogramSource& source) {
  HistogramNames names;
  names.bucket = std::string(name) + "_bucket";
  names.sum = std::string(name) + "_sum";
  names.count = std::string(name) + "_count";
  names.total = std::string(source.counter) + "_ms";
  for (std::size_t i = 0; i <= source.bounds_ms.size(); ++i) {
    names.counters.push_back(std::string(source.counter) + '_' + std::to_string(i));
    const std::string bound =
        i == source.bounds_ms.size() ? "+Inf" : seconds(Millis(source.bounds_ms[i]));
    names.bounds.push_back(',' + pair_of("le", bound));
  }
  return names;
}

void histogram(std::string& out, const HistogramNames& names, const LockStatsRow& row) {
  std::int64_t below = 0;
  for (std::size_t i = 0; i < names.counters.size(); ++i) {
    below += row.counters->get(names.counters[i]);
    number(out, names.bucket, row.labels, names.bounds[i], below);
  }
  append_sample(out, names.sum, row.labels, seconds(Millis(row.counters->get(names.total))));
  number(out, names.count, row.labels, "", below);
}

void percentiles(std::string& out, const Metric& metric, const DurationHistogram& durations,
                 std::span<const LockStatsRow> rows) {
  for (const Percentile& percentile : kPercentiles) {
    const std::string label = ',' + pair_of(metric.label, percentile.label_value);
    for (const LockStatsRow& row : rows)
      if (const auto time = durations.quantile(*row.counters, percentile.share))
        append_sample(out, metric.name, row.labels + label, seconds(*time));
  }
}

void family(std::string& out, const Metric& metric, std::span<const LockStatsRow> rows) {
  std::visit(
      Overloaded{[](std::monostate) {},
                 [&](std::span<const CounterSeries> series) {
                   std::vector<std::string> labels;
                   for (const CounterSeries& s : series)
                     labels.push_back(
                         s.label_value.empty() ? "" : ',' + pair_of(metric.label, s.label_value));
                   for (const LockStatsRow& row : rows)
                     for (std::size_t i = 0; i < series.size(); ++i)
                       number(out, metric.name, row.labels, labels[i],
                              row.counters->get(series[i].counter));
                 },
                 [&](Gauge gauge) {
                   for (const LockStatsRow& row : rows)
                     if (const auto text = gauge_text(gauge, *row.view, *row.job, *row.counters))
                       append_sample(out, metric.name, row.labels, *text);
                 },
                 [&](const HistogramSource& source) {
                   const HistogramNames names = names_of(metric.name, source);
                   for (const LockStatsRow& row : rows) histogram(out, names, row);
                 },
                 [&](const PercentileSource& source) {
                   percentiles(out, metric, source.durations(), rows);
                 }},
      metric.source);
}

}  // namespace

std::string render(const SeriesLabels& labels) {
  const std::string_view job = labels.job;
  // A leading slash is a part of the name: otherwise "/a" and "a" would be the same series.
  const std::size_t slash = job.find('/') == 0 ? std::string_view::npos : job.find('/');
  const bool split = slash != std::string_view::npos;
  return pair_of("namespace", split ? job.substr(0, slash) : "") + ',' +
         pair_of("cronjob", split ? job.substr(slash + 1) : job) + ',' +
         pair_of("lock", labels.lock);
}

void each_row(const LockView& view, const TakeRow& take) {
  for (const auto& [job, counters] : view.jobs) take(view, job, counters);
  // A record without counters has a holder.
  static const Counters kNone;
  if (!view.jobs.contains(view.identity.job) && view.acquired.us != 0)
    take(view, view.identity.job, kNone);
}

void append_lock_stats_metrics(std::string& out, std::span<const LockStatsRow> rows,
                               Histograms histograms) {
  if (rows.empty()) return;
  for (const Metric& metric : metric_table()) {
    if (metric.exporter != MetricExporter::lock_stats) continue;
    if (metric.type == MetricType::histogram && histograms == Histograms::omitted) continue;
    head(out, metric);
    family(out, metric, rows);
  }
}

std::string lock_stats_metrics(const std::vector<LockView>& views) {
  std::vector<LockStatsRow> rows;
  // Two jobs can differ only in bytes that are not UTF-8. A scrape fails if a series occurs twice,
  // so only the first of them is written.
  std::set<std::string> shown;
  for (const LockView& view : views)
    each_row(view, [&](const LockView& of, const std::string& job, const Counters& counters) {
      std::string labels = render(SeriesLabels{job, of.lock});
      if (shown.insert(labels).second) rows.push_back({std::move(labels), &of, &job, &counters});
    });
  std::string out;
  append_lock_stats_metrics(out, rows, Histograms::written);
  return out;
}

void append_sample(std::string& out, std::string_view name, std::string_view labels,
                   std::string_view value) {
  out.append(name);
  if (!labels.empty()) out.append(1, '{').append(labels).append(1, '}');
  out.append(1, ' ').append(value).append(1, '\n');
}

void append_head(std::string& out, std::string_view metric) {
  if (const Metric* const row = find_metric(metric)) head(out, *row);
}

std::string run_error_metrics(const RunErrors& errors) {
  std::string out;
  if (errors.empty()) return out;
  append_head(out, kRunErrors);
  for (const auto& [labels, count] : errors)
    append_sample(out, kRunErrors, labels, std::to_string(count));
  return out;
}

MetricsFile parse_metrics_file(std::string_view written) {
  MetricsFile file;
  // Version 0.1.0 wrote bytes that are not UTF-8.
  const std::string valid = valid_utf8(written);
  std::string_view text = valid;
  const std::string start = std::string(kRunErrors) + '{';
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    const std::size_t close = line.rfind("} ");
    if (line.starts_with(start) && close != std::string_view::npos) {
      std::int64_t count = 0;
      const char* number = line.data() + close + 2;
      const auto read = std::from_chars(number, line.data() + line.size(), count);
      if (read.ec == std::errc() && count >= 0)
        file.errors[std::string(line.substr(start.size(), close - start.size()))] = count;
    } else if (!line.empty() && line.find(kRunErrors) == std::string_view::npos) {
      file.lock_stats += std::string(line) + '\n';
    }
  }
  return file;
}

}  // namespace cronlatch
