// SPDX-License-Identifier: Apache-2.0
// Everything that the plugin's answers are made from, read once: what kubectl printed, the
// operator's status page where it can be had, the time, and how to find a time zone.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advice/advice.h"
#include "base/result.h"
#include "cron/cron_schedule.h"
#include "plugin/objects.h"
#include "plugin/status_page.h"

namespace cronlatch::plugin {

using ZoneSource = std::function<Result<Zone>(const std::string& name)>;

struct Cluster {
  std::vector<CronJob> cronjobs;
  std::vector<Job> jobs;
  std::vector<Pod> pods;
  std::vector<Event> events;
  std::optional<StatusPage> page;
  std::string no_page;  // why there is none
  WallTime now{};
  ZoneSource zones;
};

// ---- questions that several answers ask ----

// A CronJob that is gated, or was meant to be.
bool concerns_us(const CronJob& cronjob);

// The CronJob's schedule in its zone. A zone that this machine does not know becomes UTC, and
// `note` says so.
struct Timetable {
  CronSchedule schedule;
  Zone zone;
  std::string zone_name;  // what times are written in: "Europe/Berlin", "UTC"
  std::string note;
};
Result<Timetable> timetable(const CronJob& cronjob, const ZoneSource& zones);

// When it is due next: for @every counted from its last run. Nothing for a schedule that cannot be
// read or never comes.
std::optional<WallTime> next_due(const CronJob& cronjob, const ZoneSource& zones, WallTime now);

// The pods of one CronJob, the newest first: by their gate's own word, or by their Job's owner.
std::vector<const Pod*> pods_of(const Cluster& cluster, const CronJob& cronjob);

// Its newest finished run with this outcome.
const Pod* newest(const std::vector<const Pod*>& pods, Kind kind);
// "held by shop/nightly-29-abc", "done already"; "" for no skip.
std::string why_skipped(const Left& left);

// The newest Event about an object with one of these reasons, or nothing.
const Event* newest_event(const Cluster& cluster, const std::string& namespace_name,
                          std::string_view kind, const std::string& name,
                          std::initializer_list<std::string_view> reasons);
const Event* event_about(const Cluster& cluster, const CronJob& cronjob,
                         std::initializer_list<std::string_view> reasons);

// The facts that advice is made from.
std::vector<LockUse> uses(const Cluster& cluster);

// "2026-11-21 02:00 Europe/Berlin" by the zone's own clock.
std::string local_time(const Timetable& table, WallTime t);
// "12s", "5m", "3h", "2d" between two times, never negative.
std::string age(WallTime from, WallTime to);

}  // namespace cronlatch::plugin
