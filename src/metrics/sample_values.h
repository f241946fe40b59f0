// SPDX-License-Identifier: Apache-2.0
// The values of series as text: durations and times in seconds, and the gauges of a lock. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "core/lock_stats.h"
#include "metrics/metrics_table.h"

namespace cronlatch {

std::string seconds(Millis d);
std::string seconds(ServerTime t);

// Of one job of the lock. Nothing where the gauge has no series: an event that never occurred, a
// lock without slots, a store that does not know the waiting runs.
std::optional<std::string> gauge_text(Gauge gauge, const LockView& view, const std::string& job,
                                      const Counters& counters);

}  // namespace cronlatch
