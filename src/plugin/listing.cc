// SPDX-License-Identifier: Apache-2.0
#include "plugin/listing.h"

#include "plugin/entry.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

std::string ahead(const std::optional<WallTime>& t, WallTime now) {
  if (!t) return "";
  return *t < now ? age(*t, now) + " ago" : age(now, *t);
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

}  // namespace

Page list_page(const Cluster& cluster, Namespaces namespaces, Width width) {
  const std::vector<Advice> advice = advise(uses(cluster));
  Page page;
  Block block;
  page.json = {{"cronjobs", Json::array()}, {"caution", caution_json(cluster)}};
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

}  // namespace cronlatch::plugin
