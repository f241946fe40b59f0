// SPDX-License-Identifier: Apache-2.0
// The schedule of a CronJob. It accepts and evaluates schedules as the CronJob controller does:
// five fields, names, ranges, steps, `?`, @hourly and similar macros, @every. Pure.
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
  // Bit n is set: the field matches n.
  std::uint64_t minutes = 0, hours = 0, days = 0, months = 0, weekdays = 0;
  // The field was `*` or `?`: only the other of the two counts. If neither was, one match suffices.
  bool any_day = false, any_weekday = false;
  std::optional<Seconds> every;  // @every: counted from the previous run
  std::string zone;              // of a prefix TZ= or CRON_TZ=, which older clusters accept
};

// Code::usage, with the field and its permitted values.
Result<CronSchedule> parse_cron(std::string_view text);

// The first time after `after`; nothing if there is none within five years. No time matches in an
// hour that the clock skips; a time matches twice in an hour that the clock repeats.
std::optional<WallTime> next_run(const CronSchedule& schedule, const Zone& zone, WallTime after);

// The last time at or before `now`, within one year; nothing for @every.
std::optional<WallTime> previous_run(const CronSchedule& schedule, const Zone& zone, WallTime now);

// The shortest time between two of the next 500 runs after `after`.
std::optional<Seconds> shortest_gap(const CronSchedule& schedule, const Zone& zone, WallTime after);

}  // namespace cronlatch
