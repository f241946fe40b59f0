// SPDX-License-Identifier: Apache-2.0
// Next runs for a table of schedules, zones and times; invalid schedules are errors.
#include "cron/cron_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rfc3339.h"

namespace cronlatch {
namespace {

WallTime at(std::string_view text) { return parse_rfc3339(text).value(); }

// The rule at the end of the file of Europe/Berlin.
Zone berlin() {
  Zone zone;
  zone.initial_offset = 3'600;
  zone.rule = parse_rule("CET-1CEST,M3.5.0,M10.5.0/3");
  return zone;
}

struct Case {
  std::string schedule, after, next;  // next "": never
  Zone zone{};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.schedule << " after " << c.after; }

// A zone of this rule alone.
Zone by_rule(std::string_view text) {
  Zone zone;
  zone.rule = parse_rule(text);
  zone.initial_offset = zone.rule.value().standard;
  return zone;
}

class NextRun : public ::testing::TestWithParam<Case> {};

TEST_P(NextRun, IsTheSameAsInKubernetes) {
  const Result<CronSchedule> schedule = parse_cron(GetParam().schedule);
  ASSERT_TRUE(schedule) << schedule.error().message;

  const auto next = next_run(*schedule, GetParam().zone, at(GetParam().after));

  EXPECT_EQ(next ? rfc3339(*next) : "", GetParam().next);
}

INSTANTIATE_TEST_SUITE_P(
    Table, NextRun,
    ::testing::Values(
        Case{"0 2 * * *", "2026-11-21T01:59:59Z", "2026-11-21T02:00:00Z"},
        Case{"0 2 * * *", "2026-11-21T02:00:00Z", "2026-11-22T02:00:00Z"},
        Case{"*/5 * * * *", "2026-11-21T23:57:00Z", "2026-11-22T00:00:00Z"},
        Case{"7-59/20 8 * * *", "2026-11-21T08:08:00Z", "2026-11-21T08:27:00Z"},
        Case{"30/15 * * * *", "2026-11-21T08:46:00Z", "2026-11-21T09:30:00Z"},
        Case{"0 0 1 jan *", "2026-11-21T00:00:00Z", "2027-01-01T00:00:00Z"},
        Case{"0 0 29 2 *", "2026-11-21T00:00:00Z", "2028-02-29T00:00:00Z"},
        Case{"0 0 30 feb *", "2026-11-21T00:00:00Z", ""},
        Case{"0 12 ? * Mon-Fri", "2026-11-20T12:00:00Z", "2026-11-23T12:00:00Z"},
        // Both day fields are set: one match suffices. The 24th is a Tuesday, the 27th a Friday.
        Case{"0 0 24 * fri", "2026-11-21T00:00:00Z", "2026-11-24T00:00:00Z"},
        Case{"0 0 24 * fri", "2026-11-24T00:00:00Z", "2026-11-27T00:00:00Z"},
        // With a step, `*` counts as set: one match suffices, too.
        Case{"0 0 */2 * sun", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
        Case{"0,30 9,17 * * *", "2026-11-21T09:30:00Z", "2026-11-21T17:00:00Z"},
        Case{"@hourly", "2026-11-21T02:00:00Z", "2026-11-21T03:00:00Z"},
        Case{"@midnight", "2026-11-21T02:00:00Z", "2026-11-22T00:00:00Z"},
        Case{"@weekly", "2026-11-21T02:00:00Z", "2026-11-22T00:00:00Z"},
        Case{"@monthly", "2026-11-21T02:00:00Z", "2026-12-01T00:00:00Z"},
        Case{"@yearly", "2026-11-21T02:00:00Z", "2027-01-01T00:00:00Z"},
        Case{"@every 90s", "2026-11-21T02:00:00Z", "2026-11-21T02:01:30Z"},
        Case{"0 2 * * *", "2026-11-21T00:00:00Z", "2026-11-21T01:00:00Z", berlin()},
        Case{"0 2 * * *", "2026-07-01T01:00:00Z", "2026-07-02T00:00:00Z", berlin()},
        // 2:30 does not exist on 28 March 2027, and occurs twice on 25 October 2026.
        Case{"30 2 * * *", "2027-03-27T12:00:00Z", "2027-03-29T00:30:00Z", berlin()},
        Case{"30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z", berlin()},
        Case{"30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", berlin()},
        Case{"0 0 1 * *", "2026-10-02T00:00:00Z", "2026-10-31T23:00:00Z", berlin()},
        // From 23:32 in March: the change of the clocks does not hide the first hour of April.
        Case{"30-51 * * 4 *", "2009-03-16T21:31:48Z", "2009-03-31T21:30:00Z",
             by_rule("EET-2EEST,M3.5.0/3,M10.5.0/4")},
        // The clocks go from 00:01 to 01:01: 01:30 exists.
        Case{"30 1 * * *", "2010-03-13T12:00:00Z", "2010-03-14T04:00:00Z",
             by_rule("NST3:30NDT,M3.2.0/0:01,M11.1.0/0:01")},
        // What robfig/cron reads: signs, empty items, what follows `*-`, a step beyond the field.
        Case{"+5 *-9 * * *", "2026-11-21T02:05:00Z", "2026-11-21T03:05:00Z"},
        Case{",7,, * * * *", "2026-11-21T02:07:00Z", "2026-11-21T03:07:00Z"},
        Case{", * * * *", "2026-11-21T02:07:00Z", ""},
        Case{"1/2147483647 * * * *", "2026-11-21T02:07:00Z", "2026-11-21T03:01:00Z"},
        Case{"0 0 * * *", "1969-12-31T22:59:59Z", "1970-01-01T00:00:00Z"}));

TEST(CronSchedule, InvalidFieldsAreErrorsWithTheirName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"60 * * * *", "minute"},      {"* 24 * * *", "hour"},
      {"* * 0 * *", "day of month"}, {"* * * 13 *", "month"},
      {"* * * * 7", "day of week"},  {"* * * * mun", "day of week"},
      {"5-1 * * * *", "minute"},     {"*/0 * * * *", "minute"},
      {"1-2-3 * * * *", "minute"},   {"1/2/3 * * * *", "minute"},
      {"-1 * * * *", "minute"},      {"++1 * * * *", "minute"},
      {"* * * *", "five fields"},    {"* * * * * *", "five fields"},
      {"", "five fields"},           {"@fortnightly", "unknown macro"},
      {"@every soon", "@every"},     {"5-* * * * *", "minute"}};
  for (const auto& [text, word] : cases) {
    const auto schedule = parse_cron(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_THAT(schedule.error().message, ::testing::HasSubstr(word)) << text;
  }
}

TEST(CronSchedule, AcceptsAZonePrefixAsOldClusters) {
  const auto schedule = parse_cron("CRON_TZ=Europe/Berlin 0 2 * * *");

  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->zone, "Europe/Berlin");
}

TEST(CronSchedule, FindsThePreviousRun) {
  const auto last = [](std::string_view schedule, std::string_view now) {
    const auto t = previous_run(parse_cron(schedule).value(), Zone{}, at(now));
    return t ? rfc3339(*t) : "";
  };
  EXPECT_EQ(last("*/5 * * * *", "2026-11-21T02:07:00Z"), "2026-11-21T02:05:00Z");
  EXPECT_EQ(last("0 2 * * *", "2026-11-21T02:00:00Z"), "2026-11-21T02:00:00Z");
  EXPECT_EQ(last("0 2 1 * *", "2026-11-21T02:00:00Z"), "2026-11-01T02:00:00Z");
  EXPECT_EQ(last("0 2 1 1 *", "2026-11-21T02:00:00Z"), "2026-01-01T02:00:00Z");
  EXPECT_EQ(last("0 0 30 2 *", "2026-11-21T02:00:00Z"), "");
}

TEST(CronSchedule, FindsTheShortestTimeBetweenTwoRuns) {
  const auto gap = [](std::string_view schedule) {
    return shortest_gap(parse_cron(schedule).value(), Zone{}, at("2026-11-21T02:00:00Z"));
  };
  EXPECT_EQ(gap("*/5 * * * *"), Seconds(300));
  EXPECT_EQ(gap("0,20 9 * * *"), Seconds(1'200));
  EXPECT_EQ(gap("@every 90s"), Seconds(90));
  EXPECT_EQ(gap("0 0 30 2 *"), std::nullopt);
}

}  // namespace
}  // namespace cronlatch
