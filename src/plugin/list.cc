// SPDX-License-Identifier: Apache-2.0
#include "plugin/list.h"

#include "plugin/cronjob_status.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

std::string time_until(const std::optional<WallTime>& t, WallTime now) {
  if (!t) return "";
  return *t < now ? age(*t, now) + " ago" : age(now, *t);
}

std::string advice_subjects(const std::vector<Advice>& advice) {
  std::string out;
  for (const Advice& one : advice)
    if (("," + out + ",").find("," + one.about + ",") == std::string::npos)
      out += (out.empty() ? "" : ",") + one.about;
  return out;
}

std::string count_of(const CronJobStatus& status, std::string_view counter) {
  return status.counters == nullptr ? "" : std::to_string(status.counters->get(counter));
}

Row row_of(const CronJobStatus& status, WallTime now, Namespaces namespaces, Width width) {
  Row row;
  if (namespaces == Namespaces::all) row.push_back(status.cronjob->namespace_name);
  const std::string zone = status.cronjob->time_zone;
  row.insert(
      row.end(),
      {status.cronjob->name, joined(status.cronjob->schedule, zone.empty() ? "" : '(' + zone + ')'),
       status.lock, status.state, status.holder, age_or_empty(status.since, now),
       time_until(status.expires, now), age_or_empty(status.last_success, now),
       joined(age_or_empty(status.last_skip, now), status.skip_reason),
       joined(time_until(status.next, now), status.next_note), advice_subjects(status.advice)});
  if (width == Width::wide)
    row.insert(row.end(), {count_of(status, "acquired"), count_of(status, "skipped_held"),
                           count_of(status, "stolen"), count_of(status, "lost"),
                           status.live == nullptr ? "" : status.live->fence});
  return row;
}

Row header(Namespaces namespaces, Width width) {
  Row row;
  if (namespaces == Namespaces::all) row.emplace_back("NAMESPACE");
  row.insert(row.end(), {"CRONJOB", "SCHEDULE", "LOCK", "STATE", "HOLDER", "SINCE", "EXPIRES IN",
                         "LAST SUCCESS", "LAST SKIP", "NEXT IN", "ADVICE"});
  if (width == Width::wide)
    row.insert(row.end(), {"ACQUIRED", "SKIPPED", "STOLEN", "LOST", "FENCE"});
  return row;
}

// Empty without other clusters.
std::string other_clusters_text(const Cluster& cluster) {
  if (!cluster.status_page || cluster.status_page->other_clusters.empty()) return "";
  std::string names;
  for (const std::string& name : cluster.status_page->other_clusters)
    names += (names.empty() ? "" : ", ") + name;
  return "other clusters with the same store and key prefix: " + names +
         "; they share locks with the same name";
}

}  // namespace

Output list_output(const Cluster& cluster, Namespaces namespaces, Width width) {
  const std::vector<Advice> advice = advise(lock_uses(cluster));
  Output output;
  Section section;
  output.json = {{"cronjobs", Json::array()}, {"otherClusters", Json::array()}};
  add_caution(cluster, output.json);
  if (cluster.status_page) output.json["otherClusters"] = cluster.status_page->other_clusters;
  section.table.push_back(header(namespaces, width));
  for (const CronJob& cronjob : cluster.cronjobs) {
    if (!uses_lock(cronjob)) continue;
    const CronJobStatus status = status_of_cronjob(cluster, cronjob, advice);
    section.table.push_back(row_of(status, cluster.now, namespaces, width));
    output.json["cronjobs"].push_back(json_of(status));
    output.names.push_back("cronjob.batch/" + cronjob.name);
  }
  if (section.table.size() == 1)
    section = {.lines = {"no gated CronJob found; to gate one: kubectl annotate cronjob NAME "
                         "cronlatch.dev/lock=true"}};
  const bool none = section.table.empty();
  output.sections.push_back(std::move(section));
  if (!none) add_caution(cluster, output);
  add_unavailable_servers(cluster, output);
  if (const std::string others = other_clusters_text(cluster); !none && !others.empty())
    output.sections.push_back({.lines = {others}});
  if (width == Width::wide)
    for (const Advice& one : advice)
      output.sections.push_back({.lines = {one.job + ": " + one.reason + "; set " + one.set}});
  return output;
}

}  // namespace cronlatch::plugin
