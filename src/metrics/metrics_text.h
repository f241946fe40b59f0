// SPDX-License-Identifier: Apache-2.0
// The Prometheus text format 0.0.4 of `cronlatch metrics`, the metrics file and the exporter. No
// I/O; the rows come from metrics/metrics_table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/lock_stats.h"

namespace cronlatch {

// The labels of every series of a lock.
struct SeriesLabels {
  std::string job;  // "namespace/name" becomes both labels; a name alone becomes cronjob
  std::string lock;
};

// `namespace="a",cronjob="b",lock="a/b"`, values escaped. Different labels give different
// texts, except for bytes that are not UTF-8: each becomes U+FFFD.
std::string render(const SeriesLabels& labels);

// One job's use of one lock, a row of every family. The objects behind the pointers outlive it.
struct LockStatsRow {
  std::string labels;  // rendered
  const LockView* view;
  const std::string* job;
  const Counters* counters;
};
// Calls `take` with each row of a lock: one for each job that has counters, and one for a holder
// that has none yet.
using TakeRow = std::function<void(const LockView&, const std::string& job, const Counters&)>;
void each_row(const LockView& view, const TakeRow& take);

// Whether the histograms are written: 27 series of each row, as many as all other metrics.
enum class Histograms { omitted, written };

// Every metric of the lock statistics for every row. HELP and TYPE once per metric; nothing without
// rows.
void append_lock_stats_metrics(std::string& out, std::span<const LockStatsRow> rows,
                               Histograms histograms);
// The same for every job of every lock, with the histograms.
std::string lock_stats_metrics(const std::vector<LockView>& views);

// HELP and TYPE of a row of the table.
void append_head(std::string& out, std::string_view metric);
// One series: its name, its rendered labels ("" for none) and its value.
void append_sample(std::string& out, std::string_view name, std::string_view labels,
                   std::string_view value);

// Rendered labels (with the reason) -> count.
using RunErrors = std::map<std::string, std::int64_t>;

// The family cronlatch_run_errors_total; "" if there are no errors.
std::string run_error_metrics(const RunErrors& errors);

// The content of a metrics file, which is read before it is replaced.
struct MetricsFile {
  RunErrors errors;
  std::string lock_stats;  // every other line, unchanged
};
MetricsFile parse_metrics_file(std::string_view written);

}  // namespace cronlatch
