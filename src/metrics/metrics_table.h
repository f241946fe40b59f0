// SPDX-License-Identifier: Apache-2.0
// THE metric table: one row per metric of either program. The text format (metrics/metrics_text.h),
// the operator's own metrics and the reference page are rendered from it. It knows where a value
// comes from, never how it is written.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace cronlatch {

enum class MetricType { counter, gauge, histogram };
std::string_view name_of(MetricType type);

enum class Exporter {
  lock_stats,  // read from the store: `cronlatch metrics`, the operator, and the metrics file
  run,      // what a store that cannot be reached cannot count: the wrapper keeps it in its metrics
            // file, the operator learns it from pods
  cronjob,  // the operator, of each gated CronJob, with the labels of a lock
  own,      // the operator, of itself: no labels but those of the row
};

// One series of a counter: the value of the metric's own label ("" when it has none) and the
// ledger's counter it shows.
struct CounterSeries {
  std::string_view label_value;
  std::string_view counter;  // of kCounterNames (core/lock_stats.h)
};

// What a gauge says about one job's use of a lock. Times are the store's.
enum class Gauge { held, open, acquired_at, expires_at, last_success, last_skip };

// The ledger keeps `<counter>_ms` (the sum) and `<counter>_<i>` (the i-th bucket, not cumulative).
struct HistogramSource {
  std::string_view counter;
  std::span<const std::int64_t> bounds_ms;
};

// std::monostate: not in the ledger.
using MetricSource =
    std::variant<std::monostate, std::span<const CounterSeries>, Gauge, HistogramSource>;

struct Metric {
  std::string_view name;
  MetricType type;
  std::string_view label;  // beside namespace, cronjob and lock, which every one but the operator's
                           // own has; "" for none, "a, b" for two
  std::string_view help;   // one sentence
  Exporter exporter;
  MetricSource source;
};

inline constexpr std::string_view kRunErrors = "cronlatch_run_errors_total";

std::span<const Metric> metric_table();
const Metric* find_metric(std::string_view name);  // nullptr: no such row

}  // namespace cronlatch
