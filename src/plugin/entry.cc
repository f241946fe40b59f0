// SPDX-License-Identifier: Apache-2.0
// The operator's status page where it can be had; else what Jobs, pods and Events say.
#include "plugin/entry.h"

#include "base/rfc3339.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

// What pods alone tell: who runs, not whether it still waits for the lock.
void from_pods(const std::vector<const Pod*>& pods, Entry& entry) {
  entry.state = "not running";
  for (const Pod* pod : pods) {
    if (!pod->running) continue;
    entry.state = "running";
    entry.holder = pod->namespace_name + '/' + pod->name;
    entry.since = pod->running_since;
    return;
  }
}

void from_page(const StatusPage& page, Entry& entry) {
  entry.live = page.find(entry.lock);
  entry.counters = page.counters(entry.lock, entry.cronjob->id());
  // A lock that nobody asked for yet has no record.
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

void last_runs(const Cluster& cluster, const std::vector<const Pod*>& pods, Entry& entry) {
  const auto later = [](std::optional<WallTime>& known, std::optional<WallTime> seen) {
    if (seen && (!known || *seen > *known)) known = seen;
  };
  for (const Pod* pod : pods)
    if (pod->ended && pod->left.kind == Kind::ran && pod->exit_code == 0)
      later(entry.last_success, pod->finished);
  if (const Pod* const skip = newest(pods, Kind::skipped)) {
    later(entry.last_skip, skip->finished);
    entry.skip_reason = why_skipped(skip->left);
    return;
  }
  // The pod is gone, the operator's Event may still be there.
  const Event* const told = event_about(cluster, *entry.cronjob, {"Skipped"});
  if (told == nullptr) return;
  later(entry.last_skip, told->at);
  const std::size_t by = told->message.find("is held by ");
  entry.skip_reason =
      by == std::string::npos
          ? told->message
          : "held by " + told->message.substr(by + 11, told->message.find(' ', by + 11) - by - 11);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json time_or_null(const std::optional<WallTime>& t) { return t ? Json(rfc3339(*t)) : Json(); }

Json advice_json(const std::vector<Advice>& advice) {
  Json list = Json::array();
  for (const Advice& one : advice)
    list.push_back({{"about", one.about}, {"reason", one.reason}, {"set", one.set}});
  return list;
}

// One line that says how live the picture is; nothing when all is well.
std::string caution(const Cluster& cluster) {
  constexpr std::int64_t kOld = 60'000'000;
  if (!cluster.page)
    return "no live lock state (" + cluster.no_page + "): this is what Jobs and pods say";
  if (!cluster.page->store_up)
    return "the operator cannot read the store " + cluster.page->endpoint + " (" +
           cluster.page->error + ")" +
           (cluster.page->read ? ": what it read " + age(*cluster.page->read, cluster.now) + " ago"
                               : std::string(": it never could"));
  if (cluster.page->read && cluster.now.us - cluster.page->read->us > kOld)
    return "lock state as of " + age(*cluster.page->read, cluster.now) + " ago";
  return "";
}

}  // namespace

Entry entry_of(const Cluster& cluster, const CronJob& cronjob, const std::vector<Advice>& advice) {
  Entry entry;
  entry.cronjob = &cronjob;
  entry.lock = cronjob.lock();
  const auto pods = pods_of(cluster, cronjob);
  if (cluster.page)
    from_page(*cluster.page, entry);
  else
    from_pods(pods, entry);
  last_runs(cluster, pods, entry);
  if (!cronjob.written_out() && !cronjob.mirrored.contains("lock")) entry.state = "not gated";
  if (cronjob.suspended) {
    entry.next_note = "suspended";
  } else {
    entry.next = next_due(cronjob, cluster.zones, cluster.now);
    if (const auto table = timetable(cronjob, cluster.zones); !table)
      entry.next_note = "bad schedule";
    else if (!table->note.empty())
      entry.next_note = "zone unknown, as UTC";
    else if (!entry.next)
      entry.next_note = "never";
  }
  for (const Advice& one : advice)
    if (one.job == cronjob.id()) entry.advice.push_back(one);
  return entry;
}

Json json_of(const Entry& entry) {
  Json counters;
  if (entry.counters != nullptr) counters = entry.counters->values;
  return {{"namespace", entry.cronjob->namespace_name},
          {"cronjob", entry.cronjob->name},
          {"schedule", entry.cronjob->schedule},
          {"timeZone", text_or_null(entry.cronjob->time_zone)},
          {"suspended", entry.cronjob->suspended},
          {"lock", entry.lock},
          {"state", entry.state},
          {"holder", text_or_null(entry.holder)},
          {"since", time_or_null(entry.since)},
          {"expires", time_or_null(entry.expires)},
          {"lastSuccess", time_or_null(entry.last_success)},
          {"lastSkip", time_or_null(entry.last_skip)},
          {"lastSkipReason", text_or_null(entry.skip_reason)},
          {"next", time_or_null(entry.next)},
          {"counters", counters},
          {"advice", advice_json(entry.advice)}};
}

void add_caution(const Cluster& cluster, Page& page) {
  const std::string words = caution(cluster);
  if (!words.empty()) page.blocks.push_back({.lines = {words}});
}

Json caution_json(const Cluster& cluster) { return text_or_null(caution(cluster)); }

std::string ago(const std::optional<WallTime>& t, WallTime now) {
  return t ? age(*t, now) : std::string();
}
std::string both(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ' ' + b;
}

}  // namespace cronlatch::plugin
