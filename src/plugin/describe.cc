// SPDX-License-Identifier: Apache-2.0
#include "plugin/describe.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "core/lock_json.h"
#include "plugin/cronjob_status.h"

namespace cronlatch::plugin {
namespace {

std::vector<Row> settings_of(const Cluster& cluster, const CronJobStatus& status) {
  const CronJob& cronjob = *status.cronjob;
  const WallTime now = cluster.now;
  std::vector<Row> rows = {{"cronjob", cronjob.id()}};
  const auto add = [&rows](std::string key, std::string value) {
    if (!value.empty()) rows.push_back({std::move(key), std::move(value)});
  };
  const auto when = [&](const std::optional<WallTime>& t) {
    return t ? rfc3339(*t) + " (" + (*t > now ? "in " + age(now, *t) : age(*t, now) + " ago") + ')'
             : std::string();
  };
  add("schedule", joined(cronjob.schedule, cronjob.time_zone));
  add("concurrency policy", cronjob.concurrency);
  add("lock", status.lock);
  add("gated by", cronjob.has_own_gate() ? "its manifest" : "annotations");
  add("state", status.state);
  add("holder", status.holder);
  add("since", when(status.since));
  add("expires", when(status.expires));
  if (status.live != nullptr) add("fence", status.live->fence);
  add("last success", when(status.last_success));
  add("last skip", joined(when(status.last_skip), status.skip_reason));
  add("next", joined(when(status.next), status.next_note));
  for (const auto& [key, value] : cronjob.annotations)
    if (key != "lock" && key != "mirrored") add("cronlatch.dev/" + key, value);
  return rows;
}

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

const Job* newest_job_with_command(const Cluster& cluster, const CronJob& cronjob) {
  const Job* newest = nullptr;
  for (const Job& job : cluster.jobs)
    if (job.namespace_name == cronjob.namespace_name && job.cronjob == cronjob.name &&
        !job.command_from.empty() && (newest == nullptr || newest->created < job.created))
      newest = &job;
  return newest;
}

// The command that the operator found in the image, of the newest Job that needed it. An annotation
// with the same command removes the dependency on the registry.
Section image_command(const Cluster& cluster, const CronJob& cronjob) {
  const Job* const job = newest_job_with_command(cluster, cronjob);
  if (job == nullptr) return {};
  Section section{.title = "command of its image"};
  if (!job->command_by_arch.empty()) {
    section.table = {{"  by architecture", printable(job->command_by_arch)},
                     {"  found in", job->command_from}};
    return section;
  }
  std::vector<std::string> words = job->command;
  if (!cronjob.with_args.contains(job->container))
    words.insert(words.end(), job->args.begin(), job->args.end());
  if (words.empty()) return {};
  const std::string command = printable(show_json_strings(words));
  section.table = {{"  command", command}, {"  found in", job->command_from}};
  section.lines = {
      "  to be independent of the registry, for as long as the image has this command:",
      "  kubectl -n " + cronjob.namespace_name + " annotate cronjob " + cronjob.name +
          " cronlatch.dev/command=" + shell_quoted(command)};
  return section;
}

Section next_runs(const Cluster& cluster, const CronJob& cronjob) {
  Section section{.title = "next runs"};
  const auto table = timetable(cronjob, cluster.zones);
  if (!table) {
    section.lines.push_back(table.error().message);
    return section;
  }
  if (cronjob.suspended) return {};
  std::optional<WallTime> t = next_due(cronjob, cluster.zones, cluster.now);
  for (int i = 0; i < 3 && t; ++i) {
    section.table.push_back(
        {"  " + rfc3339(*t), local_time(*table, *t), "in " + age(cluster.now, *t)});
    t = next_run(table->schedule, table->zone, *t);
  }
  if (!table->note.empty()) section.lines.push_back("  " + table->note);
  if (cronjob.time_zone.empty() && table->schedule.zone.empty())
    section.lines.push_back(
        "  no timeZone: the clock of the controller manager applies; UTC is assumed");
  return section;
}

std::string outcome_of(const Pod& pod) {
  if (!pod.ended) return pod.running ? "running" : (pod.waiting.empty() ? pod.phase : pod.waiting);
  if (!pod.result.kind) return "ended without a result (" + pod.end_reason + ')';
  std::string text(name_of(*pod.result.kind));
  if (pod.result.reason != Reason::none)
    text += " (" + std::string(name_of(pod.result.reason)) + ')';
  return text;
}

Section recent_runs(const Cluster& cluster, const std::vector<const Pod*>& pods) {
  Section section{.title = "recent runs"};
  if (pods.empty()) return {};
  section.table.push_back({"  POD", "AGE", "OUTCOME", "EXIT", "HELD", "REASON"});
  for (const Pod* pod : pods) {
    if (section.table.size() > 10) break;
    section.table.push_back({"  " + pod->name, age_or_empty(pod->created, cluster.now),
                             outcome_of(*pod), pod->ended ? std::to_string(pod->exit_code) : "",
                             pod->result.kind == Kind::ran
                                 ? std::to_string(pod->result.held.count() / 1'000) + "s"
                                 : "",
                             skip_reason_of(pod->result)});
  }
  return section;
}

Section counters_of(const CronJobStatus& status) {
  Section section{.title = "counters (from the store)"};
  if (status.counters == nullptr) return {};
  for (const auto& [name, value] : status.counters->values)
    if (!is_of_histogram(name) && !is_time(name))
      section.table.push_back({"  " + name, std::to_string(value)});
  return section;
}

Section advice_block(const std::vector<Advice>& advice) {
  if (advice.empty()) return {};
  Section section{.title = "advice"};
  for (const Advice& one : advice) {
    section.lines.push_back("  " + one.about + ": " + one.reason);
    section.lines.push_back("    set " + one.set);
  }
  return section;
}

}  // namespace

Output describe_output(const Cluster& cluster, const CronJob& cronjob) {
  const CronJobStatus status = status_of_cronjob(cluster, cronjob, advise(lock_uses(cluster)));
  const auto pods = pods_of(cluster, cronjob);
  Output output;
  output.json = json_of(status);
  add_caution(cluster, output.json);
  output.sections.push_back({.table = settings_of(cluster, status)});
  for (Section section :
       {image_command(cluster, cronjob), next_runs(cluster, cronjob), recent_runs(cluster, pods),
        counters_of(status), advice_block(status.advice)})
    if (!section.table.empty() || !section.lines.empty())
      output.sections.push_back(std::move(section));
  add_caution(cluster, output);
  add_unavailable_servers(cluster, output);
  return output;
}

}  // namespace cronlatch::plugin
