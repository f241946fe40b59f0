// SPDX-License-Identifier: Apache-2.0
// Time zones: TZif files and POSIX rules. Oracles: a parsed zone can be written and parsed again;
// offsets are bounded; a rule's offset is that of the latest change among five years, counted with
// the C library's calendar; a local time is converted back to its instant. Input: a TZif file, or a
// rule.
#include <time.h>

#include <algorithm>

#include "cron/time_zone.h"
#include "fuzz/oracle.h"

namespace {

using namespace cronlatch;
using Day = YearlyRule::Day;

constexpr std::int64_t kDay = 86'400;
constexpr std::int32_t kMin = -90'000, kMax = 93'600;

std::string written_time(std::int64_t seconds) {
  const std::int64_t s = std::abs(seconds);
  return (seconds < 0 ? "-" : "") + std::to_string(s / 3'600) + ":" + std::to_string(s / 60 % 60) +
         ":" + std::to_string(s % 60);
}

std::string written_day(const Day& day) {
  std::string text;
  if (day.kind == Day::Kind::weekday_of_month)
    text = "M" + std::to_string(day.month) + "." + std::to_string(day.week) + "." +
           std::to_string(day.day);
  else
    text = (day.kind == Day::Kind::julian ? "J" : "") + std::to_string(day.day);
  return "," + text + "/" + written_time(day.time);
}

std::string written(const YearlyRule& rule) {
  std::string text = "<+00>" + written_time(-rule.standard);
  if (!rule.summer) return text;
  return text + "<+01>" + written_time(-*rule.summer) + written_day(rule.begin) +
         written_day(rule.end);
}

std::int64_t midnight(int year, int month, int day) {
  tm date{};
  date.tm_year = year - 1900;
  date.tm_mon = month - 1;
  date.tm_mday = day;
  return ::timegm(&date);
}

int weekday_at(std::int64_t t) {
  const time_t when = t;
  tm date{};
  ::gmtime_r(&when, &date);
  return date.tm_wday;
}

// The local time of a change: found day by day.
std::int64_t change_in(const Day& rule, int year) {
  if (rule.kind == Day::Kind::zero_based) return midnight(year, 1, 1 + rule.day) + rule.time;
  if (rule.kind == Day::Kind::julian) {
    const bool leap = midnight(year, 3, 1) - midnight(year, 2, 28) > kDay;
    return midnight(year, 1, rule.day + (leap && rule.day > 59 ? 1 : 0)) + rule.time;
  }
  std::int64_t found = 0;
  int week = 0;
  for (std::int64_t t = midnight(year, rule.month, 1);
       t < midnight(year, rule.month + 1, 1) && week < rule.week; t += kDay)
    if (weekday_at(t) == rule.day) {
      found = t;
      ++week;
    }
  return found + rule.time;
}

std::int32_t offset_by_search(const YearlyRule& rule, std::int64_t t) {
  const time_t when = t;
  tm date{};
  ::gmtime_r(&when, &date);
  std::int64_t latest = INT64_MIN;
  std::int32_t offset = rule.standard;
  for (int year = date.tm_year + 1898; year <= date.tm_year + 1902; ++year) {
    const std::int64_t end = change_in(rule.end, year) - *rule.summer;
    const std::int64_t begin = change_in(rule.begin, year) - rule.standard;
    if (end <= t && end > latest) {
      latest = end;
      offset = rule.standard;
    }
    if (begin <= t && begin >= latest) {
      latest = begin;
      offset = *rule.summer;
    }
  }
  return offset;
}

void check_at(const YearlyRule& rule, std::int64_t t) {
  const std::int32_t offset = offset_by(rule, t);
  if (!rule.summer) {
    fuzz::must(offset == rule.standard, "a rule without summer time has one offset");
    return;
  }
  fuzz::must(offset == offset_by_search(rule, t), "the offset is that of the latest change");
  const std::int64_t wall = t + offset;
  bool found = false;
  for (const std::int64_t back : {wall - rule.standard, wall - *rule.summer})
    found = found || (back == t && back + offset_by(rule, back) == wall);
  fuzz::must(found, "a local time is converted back to its instant");
}

void check_rule(const YearlyRule& rule) {
  fuzz::must(rule.standard >= kMin && rule.standard <= kMax, "an offset is bounded");
  fuzz::must(!rule.summer || (*rule.summer >= kMin && *rule.summer <= kMax),
             "summer's offset is bounded");
  const auto again = parse_rule(written(rule));
  fuzz::must(again.has_value(), "a rule can be written and read again");
  fuzz::must(written(*again) == written(rule), "the rules or zones are the same");
  for (const int year : {1999, 2026, 2028}) {
    for (std::int64_t t = midnight(year, 1, 1); t < midnight(year + 1, 1, 1); t += 13 * kDay + 7)
      check_at(rule, t);
    if (!rule.summer) continue;
    for (const std::int64_t change :
         {change_in(rule.begin, year) - rule.standard, change_in(rule.end, year) - *rule.summer})
      for (const std::int64_t t : {change - 1, change}) check_at(rule, t);
  }
}

std::string big_endian(std::int64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

// A file of version 2 with one type for each change, which has at most 255.
std::string written(const Zone& zone) {
  const auto count = static_cast<std::int64_t>(zone.changes.size());
  const std::string head = "TZif2" + std::string(15, '\0');
  std::string text = head + std::string(24, '\0') + head + std::string(12, '\0') +
                     big_endian(count, 4) + big_endian(count + 1, 4) + big_endian(0, 4);
  for (const Zone::Change& change : zone.changes) text += big_endian(change.at, 8);
  for (std::int64_t i = 1; i <= count; ++i) text += static_cast<char>(i);
  text += big_endian(zone.initial_offset, 4) + std::string(2, '\0');
  for (const Zone::Change& c : zone.changes) text += big_endian(c.offset, 4) + std::string(2, '\0');
  return text + "\n" + (zone.rule ? written(*zone.rule) : "") + "\n";
}

void check_written(const Zone& zone) {
  if (zone.changes.size() > 255) return;
  const auto again = parse_zone(written(zone));
  fuzz::must(again.has_value(), "a zone can be written and read again");
  fuzz::must(written(*again) == written(zone), "the rules or zones are the same");
}

void check_zone(const Zone& zone) {
  fuzz::must(zone.initial_offset >= kMin && zone.initial_offset <= kMax,
             "the first offset is bounded");
  std::int64_t before = INT64_MIN;
  for (std::size_t i = 0; i < zone.changes.size(); ++i) {
    const Zone::Change& change = zone.changes[i];
    fuzz::must(change.at >= before, "changes are in order");
    fuzz::must(change.offset >= kMin && change.offset <= kMax, "an offset is bounded");
    before = change.at;
    // Of changes at one second the last one counts; after the last change the rule does.
    if (i + 1 < zone.changes.size() && zone.changes[i + 1].at > change.at)
      fuzz::must(zone.offset_at(change.at) == change.offset, "a change is in force at its second");
  }
  if (!zone.changes.empty() && zone.changes.front().at > INT64_MIN)
    fuzz::must(zone.offset_at(zone.changes.front().at - 1) == zone.initial_offset,
               "before the changes the first offset is in force");
  check_written(zone);
  if (zone.rule) check_rule(*zone.rule);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  if (text.starts_with("TZif")) {
    if (const auto zone = parse_zone(text)) check_zone(*zone);
  } else if (const auto rule = parse_rule(text)) {
    check_rule(*rule);
  }
  return 0;
}
