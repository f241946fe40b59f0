// SPDX-License-Identifier: Apache-2.0
// The walk over the calendar: by month, day, hour and minute, and in shorter strides across a
// change of the clocks. How a schedule is read is cron_text.cc.
#include "cron/cron_schedule.h"

#include <algorithm>
#include <chrono>

namespace cronlatch {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3'600, kDay = 86'400;
constexpr std::int64_t kMicro = 1'000'000;
constexpr std::int64_t kMaxSearch = std::int64_t{5} * 366 * kDay;
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

// How far the wall clock may advance from here without passing a match. A month that does not match
// is left through its last day: a change of the clocks cannot carry the walk into the next month.
std::int64_t wall_stride(const CronSchedule& schedule, const Local& local) {
  const std::int64_t left_of_day = kDay - local.second_of_day;
  const std::int64_t days_left = std::int64_t{local.days_in_month} - local.day;
  if (!has(schedule.months, local.month))
    return days_left > 0 ? days_left * kDay - local.second_of_day : left_of_day;
  if (!day_matches(schedule, local)) return left_of_day;
  if (!has(schedule.hours, static_cast<unsigned>(local.second_of_day / kHour)))
    return kHour - local.second_of_day % kHour;
  if (!has(schedule.minutes, static_cast<unsigned>(local.second_of_day % kHour / kMinute)))
    return kMinute - local.second_of_day % kMinute;
  return 0;
}

// The same in elapsed time: a stride that crosses a change of the clocks is halved until it does
// not, at the least to one minute.
std::int64_t stride(const CronSchedule& schedule, const Zone& zone, std::int64_t t) {
  std::int64_t step = wall_stride(schedule, local_at(zone, t));
  while (step > kMinute && zone.offset_at(t + step) != zone.offset_at(t))
    step = std::max(step / 2 / kMinute * kMinute, kMinute);
  return step;
}

std::optional<std::int64_t> next_second(const CronSchedule& schedule, const Zone& zone,
                                        std::int64_t after) {
  std::int64_t t = after + 1;
  const std::int64_t into_minute = local_at(zone, t).second_of_day % kMinute;
  if (into_minute != 0) t += kMinute - into_minute;
  while (t - after < kMaxSearch) {
    const std::int64_t step = stride(schedule, zone, t);
    if (step == 0) return t;
    t += step;
  }
  return std::nullopt;
}

std::int64_t floor_seconds(WallTime t) {
  return t.us >= 0 ? t.us / kMicro : (t.us - kMicro + 1) / kMicro;
}
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
