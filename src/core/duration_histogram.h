// SPDX-License-Identifier: Apache-2.0
// DurationHistogram: one of the two histograms in the lock statistics (core/lock_stats.h), and its
// quantiles. They cover every run since the counters of the lock began. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/lock_stats.h"

namespace cronlatch {

class DurationHistogram {
 public:
  // The store has `<counter>_<i>`: the i-th bucket, not cumulative. The last one has no bound.
  DurationHistogram(std::string_view counter, std::span<const std::int64_t> bounds_ms);

  // The time within which the share `q` of the runs ends, interpolated within a bucket as by
  // PromQL's histogram_quantile. The last bound for a run beyond it. Nothing for fewer runs than
  // `min_runs`, at least one.
  std::optional<Millis> quantile(const Counters& counters, double q,
                                 std::int64_t min_runs = 1) const;

 private:
  const std::span<const std::int64_t> bounds_ms_;
  std::vector<std::string> buckets_;  // names of the counters
};

// From the grant to the end of the command.
const DurationHistogram& hold_durations();
// From the first request to the grant, of runs that waited.
const DurationHistogram& wait_durations();

}  // namespace cronlatch
