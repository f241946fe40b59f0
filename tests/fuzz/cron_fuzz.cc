// SPDX-License-Identifier: Apache-2.0
// Schedules of CronJobs and the search for their next time. Oracles: a parsed schedule can be
// written from its bits and parsed again; the next time is the first minute that matches, by a
// search minute by minute with the C library's calendar. Input: a schedule, newline, the POSIX rule
// of a time zone, newline, the start in minutes since 2000.
#include <time.h>

#include <algorithm>
#include <charconv>

#include "cron/cron_schedule.h"
#include "fuzz/oracle.h"

namespace {

using namespace cronlatch;
using namespace cronlatch;

constexpr std::int64_t kStart = 946'684'800, kMinute = 60, kDay = 86'400, kMicro = 1'000'000;
constexpr std::int64_t kWindow = 2 * kDay;
constexpr std::int64_t kLongestJump = 2 * 3'600;

bool has(std::uint64_t bits, int n) { return (bits >> n & 1) != 0; }

std::string written_field(std::uint64_t bits, bool any) {
  std::string text = any ? "*" : "";
  for (int n = 0; n < 64; ++n)
    if (has(bits, n)) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text.empty() ? "," : text;
}

std::string written(const CronSchedule& s) {
  if (s.every) return "@every " + std::to_string(s.every->count()) + "s";
  return written_field(s.minutes, false) + " " + written_field(s.hours, false) + " " +
         written_field(s.days, s.any_day) + " " + written_field(s.months, false) + " " +
         written_field(s.weekdays, s.any_weekday);
}

bool same(const CronSchedule& a, const CronSchedule& b) {
  return a.minutes == b.minutes && a.hours == b.hours && a.days == b.days && a.months == b.months &&
         a.weekdays == b.weekdays && a.any_day == b.any_day && a.any_weekday == b.any_weekday &&
         a.every == b.every;
}

void check_fields(const CronSchedule& s) {
  fuzz::must((s.minutes >> 60) == 0 && (s.hours >> 24) == 0, "times of a day are in range");
  fuzz::must((s.days >> 32) == 0 && !has(s.days, 0), "days are in range");
  fuzz::must((s.months >> 13) == 0 && !has(s.months, 0), "months are in range");
  fuzz::must((s.weekdays >> 7) == 0, "days of a week are in range");
  const Result<CronSchedule> again = parse_cron(written(s));
  fuzz::must(again.ok(), "a parsed schedule can be written and parsed again");
  fuzz::must(same(*again, s), "the parsed schedules are the same");
}

bool matches(const CronSchedule& s, const Zone& zone, std::int64_t t) {
  const time_t wall = t + zone.offset_at(t);
  tm local{};
  ::gmtime_r(&wall, &local);
  const bool day = has(s.days, local.tm_mday), weekday = has(s.weekdays, local.tm_wday);
  const bool either = s.any_day || s.any_weekday ? day && weekday : day || weekday;
  return local.tm_sec == 0 && has(s.minutes, local.tm_min) && has(s.hours, local.tm_hour) &&
         has(s.months, local.tm_mon + 1) && either;
}

// The search does not support clocks that change twice around one day.
bool changes_twice(const Zone& zone, std::int64_t from, std::int64_t to) {
  int changes = 0;
  for (std::int64_t t = from; t < to; t += 15 * kMinute)
    changes += zone.offset_at(t) != zone.offset_at(t + 15 * kMinute) ? 1 : 0;
  return changes > 1;
}

void none_matches(const CronSchedule& s, const Zone& zone, std::int64_t from, std::int64_t to) {
  if (changes_twice(zone, from - kDay, to + kDay)) return;
  for (std::int64_t t = from; t < to; t += kMinute)
    fuzz::must(!matches(s, zone, t), "no minute before the next time matches");
}

void check_search(const CronSchedule& s, const Zone& zone, std::int64_t after) {
  const auto next = next_run(s, zone, WallTime{after * kMicro});
  if (!next) {
    none_matches(s, zone, after + kMinute, after + kWindow);
    return;
  }
  const std::int64_t t = next->us / kMicro;
  fuzz::must(t > after, "the next time is later");
  if (s.every) {
    fuzz::must(t - after == s.every->count(), "@every adds its duration");
    return;
  }
  fuzz::must(matches(s, zone, t), "the next time matches every field");
  none_matches(s, zone, after + kMinute, std::min(t, after + kWindow));
  none_matches(s, zone, std::max(after + kMinute, t - kWindow), t);
  const auto previous = previous_run(s, zone, *next);
  fuzz::must(previous == next, "the last time at the next time is that time");
}

Zone zone_of(std::string_view text) {
  Zone zone;
  auto rule = parse_rule(text);
  if (!rule || rule->standard % kMinute != 0) return zone;
  if (rule->summer &&
      (*rule->summer % kMinute != 0 || std::abs(*rule->summer - rule->standard) > kLongestJump ||
       rule->begin.time % kMinute != 0 || rule->end.time % kMinute != 0))
    return zone;
  zone.rule = rule;
  return zone;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::vector<std::string> parts = fuzz::split(fuzz::text_of(bytes, size), '\n');
  const Result<CronSchedule> schedule = parse_cron(parts[0]);
  if (!schedule) {
    fuzz::must(fuzz::is_one_line(schedule.error().message), "an error is one line");
    fuzz::must(!schedule.error().hint.empty(), "an error contains the fix");
    return 0;
  }
  check_fields(*schedule);
  if (parts.size() != 3) return 0;
  std::uint32_t minutes = 0;
  std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), minutes);
  // Up to the year 2099.
  check_search(*schedule, zone_of(parts[1]), kStart + std::int64_t{minutes % 52'000'000} * kMinute);
  return 0;
}
