// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/rfc3339.h"
#include "options/options.h"

namespace cronlatch::plugin {
namespace {

constexpr std::int64_t kMicro = 1'000'000;

std::string setting(const CronJob& cronjob, std::string_view key) {
  if (const auto flag = cronjob.flags.find(key); flag != cronjob.flags.end()) return flag->second;
  const auto at = cronjob.annotations.find(key);
  return at == cronjob.annotations.end() ? "" : at->second;
}

Millis duration_setting(const CronJob& cronjob, std::string_view key, Millis fallback) {
  const std::string text = setting(cronjob, key);
  const Result<Millis> value = parse_duration(text);
  return !text.empty() && value ? *value : fallback;
}

void add_recent_runs(const std::vector<const Pod*>& pods, LockUse& use) {
  int runs = 0;
  Millis slowest{};
  for (const Pod* pod : pods) {
    if (pod->result.kind != Kind::ran) continue;
    ++runs;
    slowest = std::max(slowest, pod->result.held);
  }
  if (runs == 0) return;
  use.slow_run = slowest;
  use.slow_run_label = runs == 1 ? "the last run took"
                                 : "the slowest of the last " + std::to_string(runs) + " runs took";
}

void add_lock_stats(const StatusPage& page, WallTime now, LockUse& use) {
  const LockStatus* const live = page.find(use.lock);
  if (live == nullptr) return;
  if (use.ttl.count() == 0) use.ttl = live->ttl;
  if (live->state == "held" && live->job == use.job && live->expires && live->ttl.count() > 0) {
    // The expiry on the page is as old as the operator's last read of the store.
    const WallTime read_at = page.read.value_or(now);
    const Millis left((live->expires->us - read_at.us) / 1'000);
    if (left.count() > 0 && left < live->ttl) use.since_renewal = live->ttl - left;
    use.ttl = live->ttl;
  }
  const JobCounters* const counters = page.counters(use.lock, use.job);
  if (counters == nullptr) return;
  use.acquired = counters->get("acquired");
  use.skipped = counters->get("skipped_held");
  use.stolen = counters->get("stolen");
  use.lost = counters->get("lost");
  if (const auto p95 = p95_hold(Counters{counters->values})) {
    use.slow_run = p95;
    use.slow_run_label = "19 of 20 runs end within";
  }
}

}  // namespace

bool is_unreadable(const Cluster& cluster, std::string_view list) {
  return std::find(cluster.unreadable.begin(), cluster.unreadable.end(), list) !=
         cluster.unreadable.end();
}

bool uses_lock(const CronJob& cronjob) { return cronjob.requests_lock() || cronjob.has_own_gate(); }

Result<Timetable> timetable(const CronJob& cronjob, const ZoneSource& zones) {
  const Result<CronSchedule> schedule = parse_cron(cronjob.schedule);
  if (!schedule) return schedule.error();
  Timetable table;
  table.schedule = *schedule;
  table.zone_name = cronjob.time_zone.empty() ? schedule->zone : cronjob.time_zone;
  const Result<Zone> zone = zones(table.zone_name);
  if (zone) {
    table.zone = *zone;
  } else {
    table.note = zone.error().message + ": times are displayed as UTC";
    table.zone_name.clear();
  }
  if (table.zone_name.empty()) table.zone_name = "UTC";
  return table;
}

std::optional<WallTime> next_due(const CronJob& cronjob, const ZoneSource& zones, WallTime now) {
  const Result<Timetable> table = timetable(cronjob, zones);
  if (!table) return std::nullopt;
  if (!table->schedule.every) return next_run(table->schedule, table->zone, now);
  const auto start = cronjob.last_scheduled ? cronjob.last_scheduled : cronjob.created;
  if (!start) return std::nullopt;
  const std::int64_t gap = table->schedule.every->count() * kMicro;
  const std::int64_t passed = std::max<std::int64_t>(now.us - start->us, 0);
  return WallTime{start->us + (passed / gap + 1) * gap};
}

std::vector<const Pod*> pods_of(const Cluster& cluster, const CronJob& cronjob) {
  std::vector<const Pod*> pods;
  for (const Pod& pod : cluster.pods) {
    if (pod.namespace_name != cronjob.namespace_name) continue;
    const auto job = pod.flags.find("job");
    bool matches = job != pod.flags.end() && job->second == cronjob.id();
    if (job == pod.flags.end())
      matches = std::any_of(cluster.jobs.begin(), cluster.jobs.end(), [&](const Job& job_of_pod) {
        return job_of_pod.name == pod.job && job_of_pod.cronjob == cronjob.name &&
               job_of_pod.namespace_name == pod.namespace_name;
      });
    if (matches) pods.push_back(&pod);
  }
  std::stable_sort(pods.begin(), pods.end(), [](const Pod* a, const Pod* b) {
    return a->created.value_or(WallTime{}) > b->created.value_or(WallTime{});
  });
  return pods;
}

const Pod* newest(const std::vector<const Pod*>& pods, Kind kind) {
  for (const Pod* pod : pods)
    if (pod->ended && pod->result.kind == kind) return pod;
  return nullptr;
}

std::string skip_reason_of(const RunResult& result) {
  if (result.kind != Kind::skipped) return "";
  if (result.reason == Reason::done) return "this scheduled time was already done";
  return "held by " + (result.holder.empty() ? std::string("another run") : result.holder);
}

const ClusterEvent* newest_event(const Cluster& cluster, const std::string& namespace_name,
                                 std::string_view kind, const std::string& name,
                                 std::initializer_list<std::string_view> reasons) {
  const ClusterEvent* found = nullptr;
  for (const ClusterEvent& event : cluster.events) {
    if (event.kind != kind || event.name != name || event.namespace_name != namespace_name)
      continue;
    if (std::find(reasons.begin(), reasons.end(), event.reason) == reasons.end()) continue;
    if (found == nullptr || event.at.value_or(WallTime{}) > found->at.value_or(WallTime{}))
      found = &event;
  }
  return found;
}

const ClusterEvent* newest_cronjob_event(const Cluster& cluster, const CronJob& cronjob,
                                         std::initializer_list<std::string_view> reasons) {
  return newest_event(cluster, cronjob.namespace_name, "CronJob", cronjob.name, reasons);
}

std::vector<LockUse> lock_uses(const Cluster& cluster) {
  std::vector<LockUse> all;
  // Of a schedule in its zone. Many CronJobs have the same, and hundreds of runs are computed for
  // each.
  std::map<std::pair<std::string, std::string>, std::optional<Seconds>> gaps;
  for (const CronJob& cronjob : cluster.cronjobs) {
    if (!uses_lock(cronjob)) continue;
    LockUse use;
    use.job = cronjob.id();
    use.lock = cronjob.lock();
    if (const auto named = cronjob.annotations.find("lock"); named != cronjob.annotations.end())
      use.requested_name = named->second;
    else if (use.lock == use.job)
      use.requested_name = "true";
    const auto [gap, is_new] = gaps.try_emplace({cronjob.schedule, cronjob.time_zone});
    if (is_new)
      if (const Result<Timetable> table = timetable(cronjob, cluster.zones))
        gap->second = shortest_gap(table->schedule, table->zone, cluster.now);
    use.gap = gap->second;
    use.ttl = duration_setting(cronjob, "ttl", Options{}.ttl);
    use.min_hold = duration_setting(cronjob, "min-hold", Millis{0});
    add_recent_runs(pods_of(cluster, cronjob), use);
    if (cluster.status_page) add_lock_stats(*cluster.status_page, cluster.now, use);
    all.push_back(std::move(use));
  }
  return all;
}

std::string local_time(const Timetable& table, WallTime t) {
  const std::int64_t east = table.zone.offset_at(t.us / kMicro);
  std::string text = rfc3339({t.us + east * kMicro});  // 2026-11-21T02:00:00Z
  text[10] = ' ';
  return text.substr(0, 16) + ' ' + table.zone_name;
}

std::string age(WallTime from, WallTime to) {
  const std::int64_t seconds = std::max<std::int64_t>(0, (to.us - from.us) / kMicro);
  struct Step {
    std::int64_t below, unit;
    char letter;
  };
  for (const Step step : {Step{120, 1, 's'}, Step{7'200, 60, 'm'}, Step{172'800, 3'600, 'h'}})
    if (seconds < step.below) return std::to_string(seconds / step.unit) + step.letter;
  return std::to_string(seconds / 86'400) + 'd';
}

}  // namespace cronlatch::plugin
