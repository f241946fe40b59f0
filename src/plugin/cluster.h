// SPDX-License-Identifier: Apache-2.0
// Cluster: the input of the pure functions of all verbs, read once: objects that kubectl printed,
// the operator's status page if it is available, the time, and a source of time zones.
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
  std::vector<ClusterEvent> events;
  std::vector<std::string> unreadable;  // "pods", "Events", "Jobs": kubectl could not list them
  std::optional<StatusPage> status_page;
  std::string page_error;  // why status_page is empty
  std::string page_note;   // other operators have a page of their own; else empty
  WallTime now{};
  ZoneSource zones;
};

// ---- used by several verbs ----

bool is_unreadable(const Cluster& cluster, std::string_view list);

// The CronJob requests a lock, or its own manifest has a gate.
bool uses_lock(const CronJob& cronjob);

// The CronJob's schedule in its zone. A zone that is not installed on this machine becomes UTC, and
// `note` reports it.
struct Timetable {
  CronSchedule schedule;
  Zone zone;
  std::string zone_name;  // of displayed times: "Europe/Berlin", "UTC"
  std::string note;
};
Result<Timetable> timetable(const CronJob& cronjob, const ZoneSource& zones);

// The next scheduled time; of @every, counted from the last run. Nothing if the schedule is invalid
// or has no time within five years.
std::optional<WallTime> next_due(const CronJob& cronjob, const ZoneSource& zones, WallTime now);

// The pods of one CronJob, the newest first: by the flag --job of their gate, or by their Job's
// owner.
std::vector<const Pod*> pods_of(const Cluster& cluster, const CronJob& cronjob);

// Its newest finished run with this outcome.
const Pod* newest(const std::vector<const Pod*>& pods, Kind kind);
// "held by shop/nightly-29-abc"; "" if the run was not skipped.
std::string skip_reason_of(const RunResult& result);

// The newest Event about an object with one of these reasons, or nothing.
const ClusterEvent* newest_event(const Cluster& cluster, const std::string& namespace_name,
                                 std::string_view kind, const std::string& name,
                                 std::initializer_list<std::string_view> reasons);
const ClusterEvent* newest_cronjob_event(const Cluster& cluster, const CronJob& cronjob,
                                         std::initializer_list<std::string_view> reasons);

// The input of the advice.
std::vector<LockUse> lock_uses(const Cluster& cluster);

// "2026-11-21 02:00 Europe/Berlin", in local time of the zone.
std::string local_time(const Timetable& table, WallTime t);
// "12s", "5m", "3h", "2d" between two times, never negative.
std::string age(WallTime from, WallTime to);

}  // namespace cronlatch::plugin
