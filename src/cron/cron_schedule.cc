// SPDX-License-Identifier: Apache-2.0
// Searches the calendar for the next match: in steps that no clock change can skip, then by hours
// and minutes. cron_text.cc parses schedules.
#include "cron/cron_schedule.h"

#include <algorithm>
#include <chrono>

namespace cronlatch {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3'600, kDay = 86'400;
constexpr std::int64_t kMicro = 1'000'000;
constexpr std::int64_t kMaxSearch = 5 * 366 * kDay;
constexpr int kMaxGaps = 500;

bool has(std::uint64_t bits, unsigned n) { return ((bits >> n) & 1) != 0; }

struct Local {
  std::int64_t second_of_day;
  unsigned day, month, weekday, days_in_month;
};

Local local_at(const Zone& zone, std::int64_t t) {
  using namespace std::chrono;
  const std::int64_t wall = t + zone.offset_at(t);
  const std::int64_t day_number = wall >= 0 ? wall / kDay : (wall - kDay + 1) / kDay;
  const sys_days date{days{day_number}};
  const year_month_day ymd{date};
  const year_month_day_last last{ymd.year(), month_day_last{ymd.month()}};
  return {wall - day_number * kDay, static_cast<unsigned>(ymd.day()),
          static_cast<unsigned>(ymd.month()), weekday{date}.c_encoding(),
          static_cast<unsigned>(last.day())};
}

bool day_matches(const CronSchedule& schedule, const Local& local) {
  const bool day = has(schedule.days, local.day);
  const bool weekday = has(schedule.weekdays, local.weekday);
  return schedule.any_day || schedule.any_weekday ? day && weekday : day || weekday;
}

// Seconds that the search can advance without passing a match; 0: this is a match. A clock change
// is at most two hours, so the last hours of a day are searched one by one.
std::int64_t step_to_match(const CronSchedule& schedule, const Local& local) {
  const std::int64_t rest_of_hour = kHour - local.second_of_day % kHour;
  const std::int64_t rest_of_day = kDay - local.second_of_day;
  const std::int64_t safe_step = rest_of_day > 3 * kHour ? rest_of_day - 2 * kHour : rest_of_hour;
  if (!has(schedule.months, local.month))
    return std::max<std::int64_t>((std::int64_t{local.days_in_month} - local.day) * kDay,
                                  safe_step);
  if (!day_matches(schedule, local)) return safe_step;
  if (!has(schedule.hours, static_cast<unsigned>(local.second_of_day / kHour))) return rest_of_hour;
  if (!has(schedule.minutes, static_cast<unsigned>(local.second_of_day % kHour / kMinute)))
    return kMinute - local.second_of_day % kMinute;
  return 0;
}

std::optional<std::int64_t> next_second(const CronSchedule& schedule, const Zone& zone,
                                        std::int64_t after) {
  std::int64_t t = after + 1;
  const std::int64_t into_minute = local_at(zone, t).second_of_day % kMinute;
  if (into_minute != 0) t += kMinute - into_minute;
  while (t - after < kMaxSearch) {
    const std::int64_t step = step_to_match(schedule, local_at(zone, t));
    if (step == 0) return t;
    t += step;
  }
  return std::nullopt;
}

std::int64_t floor_seconds(WallTime t) { return t.us / kMicro; }
WallTime at_second(std::int64_t t) { return {t * kMicro}; }

}  // namespace

std::optional<WallTime> next_run(const CronSchedule& schedule, const Zone& zone, WallTime after) {
  if (schedule.every) return at_second(floor_seconds(after) + schedule.every->count());
  const auto next = next_second(schedule, zone, floor_seconds(after));
  if (!next) return std::nullopt;
  return at_second(*next);
}

std::optional<WallTime> previous_run(const CronSchedule& schedule, const Zone& zone, WallTime now) {
  if (schedule.every) return std::nullopt;
  const std::int64_t end = floor_seconds(now);
  for (const std::int64_t back : {kHour, kDay, 8 * kDay, 32 * kDay, 366 * kDay}) {
    std::optional<std::int64_t> last;
    std::optional<std::int64_t> next = next_second(schedule, zone, end - back - 1);
    while (next && *next <= end) {
      last = next;
      next = next_second(schedule, zone, *next);
    }
    if (last) return at_second(*last);
  }
  return std::nullopt;
}

std::optional<Seconds> shortest_gap(const CronSchedule& schedule, const Zone& zone,
                                    WallTime after) {
  if (schedule.every) return schedule.every;
  std::optional<std::int64_t> shortest;
  std::optional<std::int64_t> last = next_second(schedule, zone, floor_seconds(after));
  for (int i = 0; last && i < kMaxGaps; ++i) {
    const auto next = next_second(schedule, zone, *last);
    if (!next) break;
    if (!shortest || *next - *last < *shortest) shortest = *next - *last;
    last = next;
  }
  if (!shortest) return std::nullopt;
  return Seconds(*shortest);
}

}  // namespace cronlatch
