// SPDX-License-Identifier: Apache-2.0
// Rows are made once, as Entry; the table shows ages, JSON shows times.
#include "plugin/listing.h"

#include <algorithm>

#include "core/text.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

struct Entry {
  const CronJob* cronjob = nullptr;
  std::string lock, state, holder;
  std::optional<WallTime> since, expires, last_success, last_skip, next;
  std::string skip_reason, next_note;
  const LiveLock* live = nullptr;
  const JobCounters* counters = nullptr;
  std::vector<Advice> advice;
};

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
  const Event* told = nullptr;
  for (const Event& event : cluster.events)
    if (event.reason == "Skipped" && event.kind == "CronJob" && event.name == entry.cronjob->name &&
        event.namespace_name == entry.cronjob->namespace_name && event.at &&
        (!told || *event.at > *told->at))
      told = &event;
  if (told == nullptr) return;
  later(entry.last_skip, told->at);
  const std::size_t by = told->message.find("is held by ");
  entry.skip_reason =
      by == std::string::npos
          ? told->message
          : "held by " + told->message.substr(by + 11, told->message.find(' ', by + 11) - by - 11);
}

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

std::string ago(const std::optional<WallTime>& t, WallTime now) {
  return t ? age(*t, now) : std::string();
}
std::string ahead(const std::optional<WallTime>& t, WallTime now) {
  if (!t) return "";
  return *t < now ? age(*t, now) + " ago" : age(now, *t);
}
std::string both(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ' ' + b;
}

std::string subjects(const std::vector<Advice>& advice) {
  std::string out;
  for (const Advice& one : advice)
    if (("," + out + ",").find("," + one.about + ",") == std::string::npos)
      out += (out.empty() ? "" : ",") + one.about;
  return out;
}

std::string count_of(const Entry& entry, std::string_view counter) {
  return entry.counters == nullptr ? "" : std::to_string(entry.counters->get(counter));
}

Cells row_of(const Entry& entry, WallTime now, Namespaces namespaces, Width width) {
  Cells row;
  if (namespaces == Namespaces::all) row.push_back(entry.cronjob->namespace_name);
  const std::string zone = entry.cronjob->time_zone;
  row.insert(
      row.end(),
      {entry.cronjob->name, both(entry.cronjob->schedule, zone.empty() ? "" : '(' + zone + ')'),
       entry.lock, entry.state, entry.holder, ago(entry.since, now), ahead(entry.expires, now),
       ago(entry.last_success, now), both(ago(entry.last_skip, now), entry.skip_reason),
       both(ahead(entry.next, now), entry.next_note), subjects(entry.advice)});
  if (width == Width::wide)
    row.insert(row.end(), {count_of(entry, "acquired"), count_of(entry, "skipped_held"),
                           count_of(entry, "stolen"), count_of(entry, "lost"),
                           entry.live == nullptr ? "" : entry.live->fence});
  return row;
}

Cells header(Namespaces namespaces, Width width) {
  Cells row;
  if (namespaces == Namespaces::all) row.emplace_back("NAMESPACE");
  row.insert(row.end(), {"CRONJOB", "SCHEDULE", "LOCK", "STATE", "HOLDER", "SINCE", "EXPIRES IN",
                         "LAST SUCCESS", "LAST SKIP", "NEXT IN", "ADVICE"});
  if (width == Width::wide)
    row.insert(row.end(), {"ACQUIRED", "SKIPPED", "STOLEN", "LOST", "FENCE"});
  return row;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json time_or_null(const std::optional<WallTime>& t) { return t ? Json(rfc3339(*t)) : Json(); }

Json advice_json(const std::vector<Advice>& advice) {
  Json list = Json::array();
  for (const Advice& one : advice)
    list.push_back({{"about", one.about}, {"reason", one.reason}, {"set", one.set}});
  return list;
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

void add_caution(const Cluster& cluster, Page& page) {
  const std::string words = caution(cluster);
  if (!words.empty()) page.blocks.push_back({.lines = {words}});
}

// ---- describe ----

std::vector<Cells> facts_of(const Cluster& cluster, const Entry& entry) {
  const CronJob& cronjob = *entry.cronjob;
  const WallTime now = cluster.now;
  std::vector<Cells> rows = {{"cronjob", cronjob.id()}};
  const auto add = [&rows](std::string key, std::string value) {
    if (!value.empty()) rows.push_back({std::move(key), std::move(value)});
  };
  const auto when = [&](const std::optional<WallTime>& t) {
    return t ? rfc3339(*t) + " (" + (*t > now ? "in " + age(now, *t) : age(*t, now) + " ago") + ')'
             : std::string();
  };
  add("schedule", both(cronjob.schedule, cronjob.time_zone));
  add("concurrency policy", cronjob.concurrency);
  add("lock", entry.lock);
  add("gated by", cronjob.written_out() ? "its own manifest" : "annotations");
  add("state", entry.state);
  add("holder", entry.holder);
  add("since", when(entry.since));
  add("expires", when(entry.expires));
  if (entry.live != nullptr) add("fence", entry.live->fence);
  add("last success", when(entry.last_success));
  add("last skip", both(when(entry.last_skip), entry.skip_reason));
  add("next", both(when(entry.next), entry.next_note));
  for (const auto& [key, value] : cronjob.wishes)
    if (key != "lock" && key != "mirrored") add("cronlatch.dev/" + key, value);
  return rows;
}

Block next_runs(const Cluster& cluster, const CronJob& cronjob) {
  Block block{.title = "next runs"};
  const auto table = timetable(cronjob, cluster.zones);
  if (!table) {
    block.lines.push_back(table.error().message);
    return block;
  }
  if (cronjob.suspended) return {};
  std::optional<WallTime> t = next_due(cronjob, cluster.zones, cluster.now);
  for (int i = 0; i < 3 && t; ++i) {
    block.table.push_back(
        {"  " + rfc3339(*t), local_time(*table, *t), "in " + age(cluster.now, *t)});
    t = next_run(table->schedule, table->zone, *t);
  }
  if (!table->note.empty()) block.lines.push_back("  " + table->note);
  if (cronjob.time_zone.empty() && table->schedule.zone.empty())
    block.lines.push_back(
        "  no timeZone: by the clock of the controller manager, which is taken to be UTC");
  return block;
}

std::string outcome_of(const Pod& pod) {
  if (!pod.ended) return pod.running ? "running" : (pod.waiting.empty() ? pod.phase : pod.waiting);
  if (!pod.left.kind) return "ended without a word (" + pod.end_reason + ')';
  std::string text(name_of(*pod.left.kind));
  if (pod.left.reason != Reason::none) text += " (" + std::string(name_of(pod.left.reason)) + ')';
  return text;
}

Block recent_runs(const Cluster& cluster, const std::vector<const Pod*>& pods) {
  Block block{.title = "recent runs"};
  if (pods.empty()) return {};
  block.table.push_back({"  POD", "AGE", "OUTCOME", "EXIT", "HELD", "BECAUSE"});
  for (const Pod* pod : pods) {
    if (block.table.size() > 10) break;
    block.table.push_back(
        {"  " + pod->name, ago(pod->created, cluster.now), outcome_of(*pod),
         pod->ended ? std::to_string(pod->exit_code) : "",
         pod->left.kind == Kind::ran ? std::to_string(pod->left.held.count() / 1'000) + "s" : "",
         why_skipped(pod->left)});
  }
  return block;
}

Block counters_of(const Entry& entry) {
  Block block{.title = "counters (from the store)"};
  if (entry.counters == nullptr) return {};
  for (const auto& [name, value] : entry.counters->values)
    if (!name.starts_with("hold_") && !name.starts_with("wait_") && !name.starts_with("last_"))
      block.table.push_back({"  " + name, std::to_string(value)});
  return block;
}

Block advice_block(const std::vector<Advice>& advice) {
  if (advice.empty()) return {};
  Block block{.title = "advice"};
  for (const Advice& one : advice) {
    block.lines.push_back("  " + one.about + ": " + one.reason);
    block.lines.push_back("    set " + one.set);
  }
  return block;
}

}  // namespace

Page list_page(const Cluster& cluster, Namespaces namespaces, Width width) {
  const std::vector<Advice> advice = advise(uses(cluster));
  Page page;
  Block block;
  page.json = {{"cronjobs", Json::array()}, {"caution", text_or_null(caution(cluster))}};
  block.table.push_back(header(namespaces, width));
  for (const CronJob& cronjob : cluster.cronjobs) {
    if (!concerns_us(cronjob)) continue;
    const Entry entry = entry_of(cluster, cronjob, advice);
    block.table.push_back(row_of(entry, cluster.now, namespaces, width));
    page.json["cronjobs"].push_back(json_of(entry));
  }
  if (block.table.size() == 1)
    block = {.lines = {"no gated CronJob here; to gate one: kubectl annotate cronjob NAME "
                       "cronlatch.dev/lock=true"}};
  const bool none = block.table.empty();
  page.blocks.push_back(std::move(block));
  if (!none) add_caution(cluster, page);
  if (width == Width::wide)
    for (const Advice& one : advice)
      page.blocks.push_back({.lines = {one.job + ": " + one.reason + "; set " + one.set}});
  return page;
}

Page describe_page(const Cluster& cluster, const CronJob& cronjob) {
  const Entry entry = entry_of(cluster, cronjob, advise(uses(cluster)));
  const auto pods = pods_of(cluster, cronjob);
  Page page;
  page.json = json_of(entry);
  page.json["caution"] = text_or_null(caution(cluster));
  page.blocks.push_back({.table = facts_of(cluster, entry)});
  for (Block block : {next_runs(cluster, cronjob), recent_runs(cluster, pods), counters_of(entry),
                      advice_block(entry.advice)})
    if (!block.table.empty() || !block.lines.empty()) page.blocks.push_back(std::move(block));
  add_caution(cluster, page);
  return page;
}

}  // namespace cronlatch::plugin
