// SPDX-License-Identifier: Apache-2.0
// The Prometheus text format 0.0.4: what `cronlatch metrics`, the metrics file and the exporter
// write. Pure; the rows come from metrics/metrics_table.h.
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

// The labels that every series of ours carries.
struct SeriesLabels {
  std::string job;  // "namespace/name" becomes both labels; a name alone becomes cronjob
  std::string lock;
};

// `namespace="a",cronjob="b",lock="a/b"`, values escaped. Different labels give different
// texts, but for bytes that are no UTF-8: each becomes U+FFFD.
std::string render(const SeriesLabels& labels);

// One job's use of one lock, as a row of every family. Everything that it points at outlives it.
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

// Every metric of the ledger for every row; HELP and TYPE once per metric, nothing without rows.
void append_lock_stats_metrics(std::string& out, std::span<const LockStatsRow> rows);
// The same for every job of every lock.
std::string lock_stats_metrics(const std::vector<LockView>& views);

// HELP and TYPE of a row of the table.
void append_head(std::string& out, std::string_view metric);
// One series: its name, its rendered labels ("" for none) and its value.
void append_sample(std::string& out, std::string_view name, std::string_view labels,
                   std::string_view value);

// Rendered labels (with the reason) -> count.
using RunErrors = std::map<std::string, std::int64_t>;

// The family cronlatch_run_errors_total; "" when there is nothing to say.
std::string run_error_metrics(const RunErrors& errors);

// What a metrics file holds, as far as we wrote it: read back before it is replaced.
struct MetricsFile {
  RunErrors errors;
  std::string lock_stats;  // every other line, unchanged
};
MetricsFile parse_metrics_file(std::string_view written);

}  // namespace cronlatch
