// SPDX-License-Identifier: Apache-2.0
#include "plugin/describe.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "plugin/entry.h"

namespace cronlatch::plugin {
namespace {

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
  for (const auto& [key, value] : cronjob.annotations)
    if (key != "lock" && key != "mirrored") add("cronlatch.dev/" + key, value);
  return rows;
}

std::string in_shell_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

const Job* newest_looked_up(const Cluster& cluster, const CronJob& cronjob) {
  const Job* newest = nullptr;
  for (const Job& job : cluster.jobs)
    if (job.namespace_name == cronjob.namespace_name && job.cronjob == cronjob.name &&
        !job.command_from.empty() && (newest == nullptr || newest->created < job.created))
      newest = &job;
  return newest;
}

// What its image was found to run, by its newest Job that needed it: an annotation that says the
// same makes it independent of the registry.
Block image_command(const Cluster& cluster, const CronJob& cronjob) {
  const Job* const job = newest_looked_up(cluster, cronjob);
  if (job == nullptr) return {};
  Block block{.title = "command of its image"};
  if (!job->command_by_arch.empty()) {
    block.table = {{"  by architecture", printable(job->command_by_arch)},
                   {"  found in", job->command_from}};
    return block;
  }
  std::vector<std::string> words = job->command;
  if (!cronjob.with_args.contains(job->container))
    words.insert(words.end(), job->args.begin(), job->args.end());
  if (words.empty()) return {};
  const std::string command = printable(show_json_strings(words));
  block.table = {{"  command", command}, {"  found in", job->command_from}};
  block.lines = {"  to be independent of the registry, until its image runs something else:",
                 "  kubectl -n " + cronjob.namespace_name + " annotate cronjob " + cronjob.name +
                     " cronlatch.dev/command=" + in_shell_quotes(command)};
  return block;
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

Page describe_page(const Cluster& cluster, const CronJob& cronjob) {
  const Entry entry = entry_of(cluster, cronjob, advise(uses(cluster)));
  const auto pods = pods_of(cluster, cronjob);
  Page page;
  page.json = json_of(entry);
  page.json["caution"] = caution_json(cluster);
  page.blocks.push_back({.table = facts_of(cluster, entry)});
  for (Block block : {image_command(cluster, cronjob), next_runs(cluster, cronjob),
                      recent_runs(cluster, pods), counters_of(entry), advice_block(entry.advice)})
    if (!block.table.empty() || !block.lines.empty()) page.blocks.push_back(std::move(block));
  add_caution(cluster, page);
  return page;
}

}  // namespace cronlatch::plugin
