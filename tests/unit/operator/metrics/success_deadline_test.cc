// SPDX-License-Identifier: Apache-2.0
// When a CronJob is overdue, in the time zones of this machine.
#include "operator/metrics/success_deadline.h"

#include <gtest/gtest.h>

#include "base/rfc3339.h"

namespace cronlatch::op {
namespace {

WallTime at(const std::string& text) { return parse_rfc3339(text).value_or(WallTime{}); }

struct Scene {
  GatedCronJob facts;
  Zones zones{system_zones()};

  explicit Scene(const std::string& schedule, const std::string& zone = "") {
    facts.schedule = schedule;
    facts.time_zone = zone;
  }
  // "never", or the time.
  std::string overdue_at(const std::string& since, Millis usual_run = Millis(0),
                         WallTime from = {}) {
    const auto due = SuccessDeadline(facts, from, zones).after(at(since), usual_run);
    return due ? rfc3339(*due) : "never";
  }
};

TEST(SuccessDeadline, IsTheSecondMissedTimeAndTheUsualDurationOfARun) {
  Scene nightly("0 2 * * *");

  EXPECT_EQ(nightly.overdue_at("2026-11-20T02:10:00Z"), "2026-11-22T02:00:00Z");
  EXPECT_EQ(nightly.overdue_at("2026-11-20T02:10:00Z", Millis(600'000)), "2026-11-22T02:10:00Z");
}

// The time between two runs is not always the same.
TEST(SuccessDeadline, ContainsTheWeekendOfAScheduleForWorkingDays) {
  Scene working_days("0 6 * * 1-5");

  EXPECT_EQ(working_days.overdue_at("2026-11-18T06:05:00Z"), "2026-11-20T06:00:00Z");
  EXPECT_EQ(working_days.overdue_at("2026-11-20T06:05:00Z"), "2026-11-24T06:00:00Z");
}

TEST(SuccessDeadline, FollowsTheClocksOfTheTimeZone) {
  if (!find_zone("Europe/Berlin", {"/usr/share/zoneinfo"})) GTEST_SKIP() << "no time zones";
  Scene berlin("30 1 * * *", "Europe/Berlin");
  // The clocks change on 2026-10-25: 01:30 is 23:30Z before and 00:30Z after.
  EXPECT_EQ(berlin.overdue_at("2026-10-23T23:35:00Z"), "2026-10-26T00:30:00Z");

  // On 2026-03-29 the hour from 02:00 does not exist: no run at 02:30 on that day.
  Scene skipped("30 2 * * *", "Europe/Berlin");
  EXPECT_EQ(skipped.overdue_at("2026-03-28T01:35:00Z"), "2026-03-31T00:30:00Z");
  // On 2026-10-25 it occurs twice, and the controller starts two runs.
  EXPECT_EQ(skipped.overdue_at("2026-10-24T00:35:00Z"), "2026-10-25T01:30:00Z");

  Scene prefix("CRON_TZ=Europe/Berlin 30 1 * * *");
  EXPECT_EQ(prefix.overdue_at("2026-11-20T00:35:00Z"), "2026-11-22T00:30:00Z");
}

TEST(SuccessDeadline, IsLaterRatherThanEarlierInAnUnknownZone) {
  Scene unknown("0 2 * * *", "Mars/Olympus");

  EXPECT_EQ(unknown.overdue_at("2026-11-20T02:10:00Z"), "2026-11-23T02:00:00Z");
}

TEST(SuccessDeadline, CountsAnIntervalFromTheLastSuccess) {
  EXPECT_EQ(Scene("@every 2h").overdue_at("2026-11-20T02:10:00Z"), "2026-11-20T06:10:00Z");
}

TEST(SuccessDeadline, TheAnnotationReplacesTheSchedule) {
  Scene annotated("0 2 * * *");
  annotated.facts.alert_after = Millis(26 * 3'600'000);

  EXPECT_EQ(annotated.overdue_at("2026-11-20T02:10:00Z", Millis(600'000)), "2026-11-21T04:10:00Z");
}

TEST(SuccessDeadline, DoesNotExistWithoutAScheduledTime) {
  EXPECT_EQ(Scene("").overdue_at("2026-11-20T02:10:00Z"), "never");
  EXPECT_EQ(Scene("0 0 31 2 *").overdue_at("2026-11-20T02:10:00Z"), "never");
  EXPECT_EQ(Scene("no schedule").overdue_at("2026-11-20T02:10:00Z"), "never");
  Scene off("");
  off.facts.alert_after = Millis(60'000);
  EXPECT_EQ(off.overdue_at("2026-11-20T02:10:00Z"), "never");
}

TEST(SuccessDeadline, DoesNotCountTheTimeOfASuspension) {
  Scene nightly("0 2 * * *");
  nightly.facts.resumed = at("2026-11-20T10:00:00Z");
  EXPECT_EQ(nightly.overdue_at("2026-08-01T02:10:00Z"), "2026-11-22T02:00:00Z");
  EXPECT_EQ(nightly.overdue_at("2026-11-21T02:10:00Z"), "2026-11-23T02:00:00Z");

  nightly.facts.resumed = {};
  EXPECT_EQ(nightly.overdue_at("2026-08-01T02:10:00Z", Millis(0), at("2026-11-20T10:00:00Z")),
            "2026-11-22T02:00:00Z");
}

// The store remembers the success of a CronJob that was deleted and is created again, and of one
// that was not gated for a while.
TEST(SuccessDeadline, DoesNotCountTheTimeWithoutACronJobAndWithoutALock) {
  Scene created_again("0 2 * * *");
  created_again.facts.created = at("2026-11-20T10:00:00Z");
  EXPECT_EQ(created_again.overdue_at("2026-08-01T02:10:00Z"), "2026-11-22T02:00:00Z");

  Scene gated_again("0 2 * * *");
  gated_again.facts.created = at("2026-01-01T00:00:00Z");
  gated_again.facts.gated = at("2026-11-20T10:00:00Z");
  EXPECT_EQ(gated_again.overdue_at("2026-08-01T02:10:00Z"), "2026-11-22T02:00:00Z");
  EXPECT_EQ(gated_again.overdue_at("2026-11-21T02:10:00Z"), "2026-11-23T02:00:00Z");
  gated_again.facts.alert_after = Millis(26 * 3'600'000);
  EXPECT_EQ(gated_again.overdue_at("2026-08-01T02:10:00Z"), "2026-11-21T12:00:00Z");
}

// Each zone is read once, also one that does not exist.
TEST(SuccessDeadline, ReadsEachZoneOnce) {
  int reads = 0;
  Zones zones([&](const std::string& name) {
    ++reads;
    return find_zone(name, {});
  });

  EXPECT_EQ(zones.find("UTC"), zones.find("UTC"));
  EXPECT_EQ(zones.find("Mars/Olympus"), nullptr);
  EXPECT_EQ(zones.find("Mars/Olympus"), nullptr);
  EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace cronlatch::op
