// SPDX-License-Identifier: Apache-2.0
// The metrics file of node_exporter's textfile collector: the statistics of the run's lock, and the
// run errors, which the store cannot count.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/lock_stats.h"
#include "core/outcome.h"
#include "metrics/metrics_text.h"

namespace cronlatch {

// The run errors of this outcome; empty for outcomes that the store has counted.
std::vector<Reason> run_errors_of(const Outcome& outcome);

// The next content of the file: run errors are added to those of `old`; without a `view` the old
// lock statistics stay.
std::string next_metrics_file(std::string_view old, const std::optional<LockView>& view,
                              const SeriesLabels& labels, std::span<const Reason> run_errors);

// The whole file, "" when there is none; Code::system where `path` is no regular file, and then
// nothing was opened.
Result<std::string> read_metrics_file(const std::string& path);
// Of a path that read_metrics_file has accepted. Readers see the old file or the new one. Mode
// 0644: the collector is another user.
Status replace_metrics_file(const std::string& path, std::string_view text);

}  // namespace cronlatch
