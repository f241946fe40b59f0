// SPDX-License-Identifier: Apache-2.0
// The lock state is that of the operator's status page; without the page, of Jobs, pods and Events.
#include "plugin/cronjob_status.h"

#include "base/rfc3339.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

// Pods show that a run is running, not whether it holds the lock or waits for it.
void add_state_from_pods(const Cluster& cluster, const std::vector<const Pod*>& pods,
                         CronJobStatus& status) {
  status.state = is_unreadable(cluster, "pods") ? "unknown" : "not running";
  std::size_t others = 0;
  for (const Pod* pod : pods) {
    if (!pod->running) continue;
    if (status.state == "running") {
      ++others;
      continue;
    }
    status.state = "running";
    status.holder = pod->namespace_name + '/' + pod->name;
    status.since = pod->running_since;
  }
  if (others > 0)
    status.holder += " and " + std::to_string(others) + (others == 1 ? " other" : " others");
}

void add_state_from_page(const StatusPage& page, CronJobStatus& status) {
  status.live = page.find(status.lock);
  status.counters = page.counters(status.lock, status.cronjob->id());
  // A lock that was never requested has no record.
  status.state = status.live == nullptr ? "free" : status.live->state;
  if (status.live != nullptr) {
    status.holder = status.live->holder_text();
    status.since = status.live->since;
    status.expires = status.live->expires;
  }
  if (status.counters != nullptr) {
    status.last_success = status.counters->last_success;
    status.last_skip = status.counters->last_skip;
  }
}

void add_last_runs(const Cluster& cluster, const std::vector<const Pod*>& pods,
                   CronJobStatus& status) {
  const auto later = [](std::optional<WallTime>& latest, std::optional<WallTime> t) {
    if (t && (!latest || *t > *latest)) latest = t;
  };
  for (const Pod* pod : pods)
    if (pod->ended && pod->result.kind == Kind::ran && pod->exit_code == 0)
      later(status.last_success, pod->finished);
  if (const Pod* const skip = newest(pods, Kind::skipped)) {
    later(status.last_skip, skip->finished);
    status.skip_reason = skip_reason_of(skip->result);
    return;
  }
  // The pod no longer exists; the operator's Event may still exist.
  const ClusterEvent* const event = newest_cronjob_event(cluster, *status.cronjob, {"Skipped"});
  if (event == nullptr) return;
  later(status.last_skip, event->at);
  const std::size_t by = event->message.find("is held by ");
  status.skip_reason = by == std::string::npos
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

bool is_old(const Cluster& cluster) {
  constexpr std::int64_t kMaxAgeUs = 60'000'000;
  const auto& page = cluster.status_page;
  return page && page->read && cluster.now.us - page->read->us > kMaxAgeUs;
}

// Empty if the lock state is current. Without its age, which changes every second.
std::string caution(const Cluster& cluster) {
  if (!cluster.status_page)
    return "no live lock state (" + cluster.page_error +
           "): the state is derived from Jobs and pods";
  if (!cluster.status_page->store_up)
    return "the operator cannot read the store " + cluster.status_page->endpoint + " (" +
           cluster.status_page->error + ')';
  return is_old(cluster) ? "the lock state is old" : "";
}

std::string age_of_state(const Cluster& cluster) {
  if (!cluster.status_page) return "";
  if (!cluster.status_page->read) return ": no read has succeeded yet";
  return ": the state is from " + age(*cluster.status_page->read, cluster.now) + " ago";
}

}  // namespace

CronJobStatus status_of_cronjob(const Cluster& cluster, const CronJob& cronjob,
                                const std::vector<Advice>& advice) {
  CronJobStatus status;
  status.cronjob = &cronjob;
  status.lock = cronjob.lock();
  const auto pods = pods_of(cluster, cronjob);
  if (cluster.status_page)
    add_state_from_page(*cluster.status_page, status);
  else
    add_state_from_pods(cluster, pods, status);
  add_last_runs(cluster, pods, status);
  if (!cronjob.has_own_gate() && !cronjob.job_annotations.contains("lock"))
    status.state = "not gated";
  if (cronjob.suspended) {
    status.next_note = "suspended";
  } else {
    status.next = next_due(cronjob, cluster.zones, cluster.now);
    if (const auto table = timetable(cronjob, cluster.zones); !table)
      status.next_note = "bad schedule";
    else if (!table->note.empty())
      status.next_note = "unknown zone, as UTC";
    else if (!status.next)
      status.next_note = "never";
  }
  for (const Advice& one : advice)
    if (one.job == cronjob.id()) status.advice.push_back(one);
  return status;
}

Json json_of(const CronJobStatus& status) {
  Json counters;
  if (status.counters != nullptr) counters = status.counters->values;
  return {{"namespace", status.cronjob->namespace_name},
          {"cronjob", status.cronjob->name},
          {"schedule", status.cronjob->schedule},
          {"timeZone", string_or_null(status.cronjob->time_zone)},
          {"suspended", status.cronjob->suspended},
          {"lock", status.lock},
          {"state", status.state},
          {"holder", string_or_null(status.holder)},
          {"since", time_or_null(status.since)},
          {"expires", time_or_null(status.expires)},
          {"lastSuccess", time_or_null(status.last_success)},
          {"lastSkip", time_or_null(status.last_skip)},
          {"lastSkipReason", string_or_null(status.skip_reason)},
          {"next", time_or_null(status.next)},
          {"counters", counters},
          {"advice", advice_json(status.advice)}};
}

void add_caution(const Cluster& cluster, Output& output) {
  const std::string text = caution(cluster);
  if (!text.empty()) output.sections.push_back({.lines = {text + age_of_state(cluster)}});
  if (!cluster.page_note.empty()) output.sections.push_back({.lines = {cluster.page_note}});
}

void add_caution(const Cluster& cluster, Json& json) {
  json["caution"] = string_or_null(caution(cluster));
  json["stateRead"] = time_or_null(cluster.status_page ? cluster.status_page->read : std::nullopt);
  json["note"] = string_or_null(cluster.page_note);
  json["unreadable"] = cluster.unreadable;
}

void add_unavailable_servers(const Cluster& cluster, Output& output) {
  Json& list = output.json["unavailableServers"] = Json::array();
  if (!cluster.status_page) return;
  std::string text;
  for (const QuorumServer& server : cluster.status_page->servers) {
    if (server.up) continue;
    list.push_back({{"endpoint", server.endpoint}, {"error", server.error}});
    text += (text.empty() ? "" : ", ") + server.endpoint + " (" + server.error + ')';
  }
  if (text.empty()) return;
  output.sections.push_back(
      {.lines = {"unavailable servers of the quorum: " + std::to_string(list.size()) + " of " +
                 std::to_string(cluster.status_page->servers.size()) + ": " + text}});
}

std::string age_or_empty(const std::optional<WallTime>& t, WallTime now) {
  return t ? age(*t, now) : std::string();
}
std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ' ' + b;
}

}  // namespace cronlatch::plugin
