// SPDX-License-Identifier: Apache-2.0
// When a CronJob is due: the schedules that Kubernetes accepts, read and counted as its controller
// does (five fields, names, ranges, steps, `?`, @hourly and its like, @every). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cron/time_zone.h"

namespace cronlatch {

struct CronSchedule {
  // Bit n: the field may be n.
  std::uint64_t minutes = 0, hours = 0, days = 0, months = 0, weekdays = 0;
  // The field was `*` or `?`: then the other of the two decides alone. Otherwise either may match.
  bool any_day = false, any_weekday = false;
  std::optional<Seconds> every;  // @every: counted from the run before, by no calendar
  std::string zone;              // of a TZ= or CRON_TZ= in front, which older clusters accept
};

// Code::usage: which field, and what it may be.
Result<CronSchedule> parse_cron(std::string_view text);

// The first time after `after`; nothing when there is none within five years. In the hour that a
// clock is set forward nothing matches, in the one that it repeats things match twice.
std::optional<WallTime> next_run(const CronSchedule& schedule, const Zone& zone, WallTime after);

// The last time at or before `now`, looked for as far back as a year; @every has none.
std::optional<WallTime> previous_run(const CronSchedule& schedule, const Zone& zone, WallTime now);

// The shortest time between two runs of those that follow `after`.
std::optional<Seconds> shortest_gap(const CronSchedule& schedule, const Zone& zone, WallTime after);

}  // namespace cronlatch
