// SPDX-License-Identifier: Apache-2.0
// The metric table: one row for each metric of both programs. The text format
// (metrics/metrics_text.h), the operator's metrics and docs/reference/metrics.md are derived from
// it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "core/duration_histogram.h"

namespace cronlatch {

enum class MetricType { counter, gauge, histogram };
std::string_view name_of(MetricType type);

enum class MetricExporter {
  lock_stats,  // read from the store: `cronlatch metrics`, the operator, and the metrics file
  run,      // not in the store: the wrapper writes it to the metrics file, the operator reads the
            // outcomes of pods
  cronjob,  // the operator, of each gated CronJob, with the labels of a lock
  own,      // the operator, of itself: only the labels of the row
};

// One series of a counter: the value of the metric's own label ("" if it has none) and the counter
// in the lock statistics.
struct CounterSeries {
  std::string_view label_value;
  std::string_view counter;  // of kCounterNames (core/lock_stats.h)
};

// A gauge of one job's use of a lock. `waiters` are those of all jobs. Times are the store's.
enum class Gauge { held, open, slots, waiters, acquired_at, expires_at, last_success, last_skip };

// The store has `<counter>_ms` (the sum) and `<counter>_<i>` (the i-th bucket, not cumulative).
struct HistogramSource {
  std::string_view counter;
  std::span<const std::int64_t> bounds_ms;
};

// The percentiles of a histogram, one series each; none before the first run.
struct PercentileSource {
  const DurationHistogram& (*durations)();
};
struct Percentile {
  double share;
  std::string_view label_value;
};
inline constexpr std::array<Percentile, 2> kPercentiles = {{{0.5, "50"}, {0.95, "95"}}};

// std::monostate: not in the store.
using MetricSource = std::variant<std::monostate, std::span<const CounterSeries>, Gauge,
                                  HistogramSource, PercentileSource>;

struct Metric {
  std::string_view name;
  MetricType type;
  std::string_view label;  // in addition to namespace, cronjob and lock (which Exporter::own does
                           // not have); "" for none, "a, b" for two
  std::string_view help;   // one sentence
  MetricExporter exporter;
  MetricSource source;
};

inline constexpr std::string_view kRunErrors = "cronlatch_run_errors_total";

std::span<const Metric> metric_table();
const Metric* find_metric(std::string_view name);  // nullptr: no such row

}  // namespace cronlatch
