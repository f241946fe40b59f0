// SPDX-License-Identifier: Apache-2.0
#include "core/duration_histogram.h"

#include <algorithm>

namespace cronlatch {

DurationHistogram::DurationHistogram(std::string_view counter,
                                     std::span<const std::int64_t> bounds_ms)
    : bounds_ms_(bounds_ms) {
  for (std::size_t i = 0; i <= bounds_ms.size(); ++i)
    buckets_.push_back(std::string(counter) + '_' + std::to_string(i));
}

std::optional<Millis> DurationHistogram::quantile(const Counters& counters, double q,
                                                  std::int64_t min_runs) const {
  std::vector<std::int64_t> counts;
  std::int64_t total = 0;
  for (const std::string& bucket : buckets_) {
    counts.push_back(std::max<std::int64_t>(counters.get(bucket), 0));
    total += counts.back();
  }
  if (total == 0 || total < min_runs) return std::nullopt;
  const double rank = q * static_cast<double>(total);
  double below = 0;
  for (std::size_t i = 0; i < bounds_ms_.size(); ++i) {
    const double here = static_cast<double>(counts[i]);
    if (here > 0 && below + here >= rank) {
      const double low = i == 0 ? 0 : static_cast<double>(bounds_ms_[i - 1]);
      const double width = static_cast<double>(bounds_ms_[i]) - low;
      return Millis(static_cast<std::int64_t>(low + width * (rank - below) / here));
    }
    below += here;
  }
  return Millis(bounds_ms_.back());
}

const DurationHistogram& hold_durations() {
  static const DurationHistogram kHold("hold", kHoldBucketsMs);
  return kHold;
}

const DurationHistogram& wait_durations() {
  static const DurationHistogram kWait("wait", kWaitBucketsMs);
  return kWait;
}

}  // namespace cronlatch
