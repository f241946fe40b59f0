// SPDX-License-Identifier: Apache-2.0
// The lock state is that of the operator's status page; without the page, of Jobs, pods and Events.
#include "plugin/cronjob_status.h"

#include "base/rfc3339.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

// Pods show that a run is running, not whether it holds the lock or waits for it.
void add_state_from_pods(const std::vector<const Pod*>& pods, CronJobStatus& entry) {
  entry.state = "not running";
  for (const Pod* pod : pods) {
    if (!pod->running) continue;
    entry.state = "running";
    entry.holder = pod->namespace_name + '/' + pod->name;
    entry.since = pod->running_since;
    return;
  }
}

void add_state_from_page(const StatusPage& page, CronJobStatus& entry) {
  entry.live = page.find(entry.lock);
  entry.counters = page.counters(entry.lock, entry.cronjob->id());
  // A lock that was never requested has no record.
  entry.state = entry.live == nullptr ? "free" : entry.live->state;
  if (entry.live != nullptr) {
    entry.holder = entry.live->holder;
    entry.since = entry.live->since;
    entry.expires = entry.live->expires;
  }
  if (entry.counters != nullptr) {
    entry.last_success = entry.counters->last_success;
    entry.last_skip = entry.counters->last_skip;
  }
}

void add_last_runs(const Cluster& cluster, const std::vector<const Pod*>& pods,
                   CronJobStatus& entry) {
  const auto later = [](std::optional<WallTime>& known, std::optional<WallTime> seen) {
    if (seen && (!known || *seen > *known)) known = seen;
  };
  for (const Pod* pod : pods)
    if (pod->ended && pod->result.kind == Kind::ran && pod->exit_code == 0)
      later(entry.last_success, pod->finished);
  if (const Pod* const skip = newest(pods, Kind::skipped)) {
    later(entry.last_skip, skip->finished);
    entry.skip_reason = skip_reason_of(skip->result);
    return;
  }
  // The pod no longer exists; the operator's Event may still exist.
  const Event* const event = newest_cronjob_event(cluster, *entry.cronjob, {"Skipped"});
  if (event == nullptr) return;
  later(entry.last_skip, event->at);
  const std::size_t by = event->message.find("is held by ");
  entry.skip_reason = by == std::string::npos
                          ? event->message
                          : "held by " + event->message.substr(
                                             by + 11, event->message.find(' ', by + 11) - by - 11);
}

Json string_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json time_or_null(const std::optional<WallTime>& t) { return t ? Json(rfc3339(*t)) : Json(); }

Json advice_json(const std::vector<Advice>& advice) {
  Json list = Json::array();
  for (const Advice& one : advice)
    list.push_back({{"about", one.about}, {"reason", one.reason}, {"set", one.set}});
  return list;
}

// Empty if the lock state is current.
std::string caution(const Cluster& cluster) {
  constexpr std::int64_t kMaxAgeUs = 60'000'000;
  if (!cluster.status_page)
    return "no live lock state (" + cluster.page_error +
           "): the state is derived from Jobs and pods";
  if (!cluster.status_page->store_up)
    return "the operator cannot read the store " + cluster.status_page->endpoint + " (" +
           cluster.status_page->error + ")" +
           (cluster.status_page->read
                ? ": the state is " + age(*cluster.status_page->read, cluster.now) + " old"
                : std::string(": it has never read it"));
  if (cluster.status_page->read && cluster.now.us - cluster.status_page->read->us > kMaxAgeUs)
    return "the lock state is " + age(*cluster.status_page->read, cluster.now) + " old";
  return "";
}

}  // namespace

CronJobStatus status_of_cronjob(const Cluster& cluster, const CronJob& cronjob,
                                const std::vector<Advice>& advice) {
  CronJobStatus entry;
  entry.cronjob = &cronjob;
  entry.lock = cronjob.lock();
  const auto pods = pods_of(cluster, cronjob);
  if (cluster.status_page)
    add_state_from_page(*cluster.status_page, entry);
  else
    add_state_from_pods(pods, entry);
  add_last_runs(cluster, pods, entry);
  if (!cronjob.has_own_gate() && !cronjob.job_annotations.contains("lock"))
    entry.state = "not gated";
  if (cronjob.suspended) {
    entry.next_note = "suspended";
  } else {
    entry.next = next_due(cronjob, cluster.zones, cluster.now);
    if (const auto table = timetable(cronjob, cluster.zones); !table)
      entry.next_note = "bad schedule";
    else if (!table->note.empty())
      entry.next_note = "unknown zone, as UTC";
    else if (!entry.next)
      entry.next_note = "never";
  }
  for (const Advice& one : advice)
    if (one.job == cronjob.id()) entry.advice.push_back(one);
  return entry;
}

Json json_of(const CronJobStatus& entry) {
  Json counters;
  if (entry.counters != nullptr) counters = entry.counters->values;
  return {{"namespace", entry.cronjob->namespace_name},
          {"cronjob", entry.cronjob->name},
          {"schedule", entry.cronjob->schedule},
          {"timeZone", string_or_null(entry.cronjob->time_zone)},
          {"suspended", entry.cronjob->suspended},
          {"lock", entry.lock},
          {"state", entry.state},
          {"holder", string_or_null(entry.holder)},
          {"since", time_or_null(entry.since)},
          {"expires", time_or_null(entry.expires)},
          {"lastSuccess", time_or_null(entry.last_success)},
          {"lastSkip", time_or_null(entry.last_skip)},
          {"lastSkipReason", string_or_null(entry.skip_reason)},
          {"next", time_or_null(entry.next)},
          {"counters", counters},
          {"advice", advice_json(entry.advice)}};
}

void add_caution(const Cluster& cluster, Output& output) {
  const std::string text = caution(cluster);
  if (!text.empty()) output.sections.push_back({.lines = {text}});
}

Json caution_json(const Cluster& cluster) { return string_or_null(caution(cluster)); }

std::string age_or_empty(const std::optional<WallTime>& t, WallTime now) {
  return t ? age(*t, now) : std::string();
}
std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ' ' + b;
}

}  // namespace cronlatch::plugin
