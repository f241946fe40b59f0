// SPDX-License-Identifier: Apache-2.0
// In this order: the CronJob, its scheduled time, the Job, the pod, the wrapper's outcome.
#include "plugin/why.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "plugin/cronjob_status.h"
#include "plugin/why_missing.h"
#include "plugin/why_pod.h"

namespace cronlatch::plugin {
namespace {

std::string quoted_name(const std::string& name) { return name.empty() ? "?" : name; }

// ---- the gate ----

void check_gate(const Cluster& cluster, const CronJob& cronjob, std::vector<RunFinding>& out) {
  if (cronjob.has_own_gate()) return;
  if (!cronjob.requests_lock()) {
    out.push_back({"not_gated", "it requests no lock and is not gated",
                   kubectl_in(cronjob.namespace_name,
                              "annotate cronjob " + cronjob.name + " cronlatch.dev/lock=true")});
    return;
  }
  if (const ClusterEvent* const bad =
          newest_cronjob_event(cluster, cronjob, {"InvalidAnnotations"}))
    out.push_back({"bad_annotation", "its annotations are invalid: " + bad->message,
                   "correct the annotation and apply the CronJob again"});
  if (cronjob.job_annotations.contains("lock")) return;
  const ClusterEvent* const refused = newest_cronjob_event(cluster, cronjob, {"NotMirrored"});
  out.push_back(
      {"not_mirrored",
       "its annotation was not copied to spec.jobTemplate.metadata.annotations, so its Jobs run "
       "without a lock" +
           (refused == nullptr ? "; the operator was unavailable when it was annotated"
                               : "; the operator's Event: " + refused->message),
       refused == nullptr
           ? "check that the operator runs (its leader copies annotations), or apply the CronJob "
             "again"
           : "correct what the Event names, or apply the CronJob again"});
}

// ---- the last run ----

WallTime time_of(const Job& job) {
  return job.scheduled ? *job.scheduled : job.created.value_or(WallTime{});
}

const Job* last_job(const Cluster& cluster, const CronJob& cronjob) {
  const Job* last = nullptr;
  for (const Job& job : cluster.jobs) {
    if (job.cronjob != cronjob.name || job.namespace_name != cronjob.namespace_name) continue;
    if (last == nullptr || job.created.value_or(WallTime{}) >= last->created.value_or(WallTime{}))
      last = &job;
  }
  return last;
}

std::optional<WallTime> last_due(const Cluster& cluster, const CronJob& cronjob) {
  const auto table = timetable(cronjob, cluster.zones);
  if (!table) return std::nullopt;
  if (table->schedule.every) {
    const auto next = next_due(cronjob, cluster.zones, cluster.now);
    if (!next) return std::nullopt;
    const WallTime last{next->us - Micros(*table->schedule.every).count()};
    return last == cronjob.created && !cronjob.last_scheduled ? std::nullopt : std::optional(last);
  }
  const auto due = previous_run(table->schedule, table->zone, cluster.now);
  if (!due || (cronjob.created && *due < *cronjob.created)) return std::nullopt;
  return due;
}

// No Job was created for `due`, and the controller has had the time to create it.
bool is_missing(const Cluster& cluster, const CronJob& cronjob, const Job* last, WallTime due) {
  if (cluster.now.us - due.us < kControllerDelay) return false;
  // A Job was created; it may have been deleted.
  if (cronjob.last_scheduled && *cronjob.last_scheduled >= due) return false;
  return last == nullptr || time_of(*last) < due;
}

// The Job and its pods were deleted. The operator's Event may still exist.
RunFinding deleted_job(const Cluster& cluster, const CronJob& cronjob) {
  const ClusterEvent* const event =
      newest_cronjob_event(cluster, cronjob,
                           {"Skipped", "Acquired", "Busy", "Lost", "Stolen", "StoreDown", "Refused",
                            "TimedOut", "CannotStart", "Interrupted", "RanWithoutLock"});
  if (event == nullptr && is_unreadable(cluster, "Events"))
    return unreadable_cause(cluster, cronjob);
  if (event == nullptr)
    return {"gone",
            "its Job was deleted (history limits, ttlSecondsAfterFinished), and no Event exists",
            "increase successfulJobsHistoryLimit and failedJobsHistoryLimit; "
            "`cronlatch_runs_total` counts every run"};
  return {"gone", "its Job was deleted; the operator's Event: " + event->message, ""};
}

constexpr std::size_t kMaxPods = 20;

// The newest first.
std::vector<const Pod*> pods_of_job(const Cluster& cluster, const Job& job) {
  std::vector<const Pod*> pods;
  for (const Pod& pod : cluster.pods)
    if (pod.job == job.name && pod.namespace_name == job.namespace_name) pods.push_back(&pod);
  std::stable_sort(pods.begin(), pods.end(), [](const Pod* a, const Pod* b) {
    return a->created.value_or(WallTime{}) > b->created.value_or(WallTime{});
  });
  return pods;
}

// Of a Job with one pod at a time only the newest pod counts: the others are earlier attempts.
void add_pods(const Cluster& cluster, const Job& job, const std::vector<const Pod*>& pods,
              std::vector<RunFinding>& out) {
  const std::size_t shown = job.has_several_pods ? std::min(pods.size(), kMaxPods) : 1;
  for (std::size_t i = 0; i < shown; ++i)
    for (RunFinding& finding : findings_of_pod(cluster, *pods[i])) {
      if (job.has_several_pods) finding.what = "pod " + pods[i]->name + ": " + finding.what;
      out.push_back(std::move(finding));
    }
  if (job.has_several_pods && pods.size() > shown)
    out.push_back({"more_pods", std::to_string(pods.size() - shown) + " older pods are not shown",
                   kubectl_in(job.namespace_name, "get pods -l job-name=" + job.name)});
  if (job.failed)
    out.push_back({"job_failed", "the Job failed (" + job.failure + "): " + job.message, ""});
}

std::vector<RunFinding> findings_of_job(const Cluster& cluster, const CronJob& cronjob,
                                        const Job& job) {
  if (job.suspended)
    return {{"job_suspended", "its Job " + job.name + " is suspended, by a queue or a user",
             kubectl_in(cronjob.namespace_name,
                        "patch job " + job.name + " -p '{\"spec\":{\"suspend\":false}}'")}};
  const std::vector<const Pod*> pods = pods_of_job(cluster, job);
  std::vector<RunFinding> out;
  if (!job.gated && job.requests_lock)
    out.push_back({"ran_ungated",
                   "Job " + job.name +
                       " requests a lock, but its containers run without one: it was "
                       "created while the admission webhook was not active",
                   "check that the operator and its policies are installed and active"});
  if (!pods.empty()) {
    add_pods(cluster, job, pods, out);
    return out;
  }
  if (is_unreadable(cluster, "pods")) {
    out.push_back(unreadable_cause(cluster, cronjob));
    return out;
  }
  const ClusterEvent* const failed =
      newest_event(cluster, job.namespace_name, "Job", job.name, {"FailedCreate"});
  if (failed != nullptr && !job.complete) {
    out.push_back({"no_pod", "its pod was refused: " + failed->message,
                   "correct what the message names (Pod Security, quota, another webhook)"});
  } else if (job.failed) {
    out.push_back({"job_failed",
                   "Job " + job.name + " failed (" + quoted_name(job.failure) +
                       "): " + job.message + "; its pods were deleted",
                   ""});
  } else if (job.complete) {
    out.push_back(deleted_job(cluster, cronjob));
    out.back().what = "Job " + job.name + " is complete, its pod was deleted. " + out.back().what;
  } else {
    out.push_back({"no_pod", "Job " + job.name + " has no pod yet",
                   kubectl_in(cronjob.namespace_name, "describe job " + job.name)});
  }
  return out;
}

std::string name_of_run(const Job& job) {
  return (job.scheduled ? "the run of " + rfc3339(*job.scheduled)
                        : "the manual run of " + rfc3339(time_of(job))) +
         " (Job " + job.name + ')';
}

}  // namespace

std::string kubectl_in(const std::string& namespace_name, const std::string& words) {
  return "kubectl -n " + namespace_name + ' ' + words;
}

RunFinding unreadable_cause(const Cluster& cluster, const CronJob& cronjob) {
  std::string lists;
  for (const std::string& list : cluster.unreadable) lists += (lists.empty() ? "" : ", ") + list;
  return {"unreadable", "the cause is not known, because kubectl could not list " + lists,
          "get the right to list them in namespace " + cronjob.namespace_name};
}

Explanation explain_last_run(const Cluster& cluster, const CronJob& cronjob) {
  Explanation why;
  std::vector<RunFinding> gate;
  check_gate(cluster, cronjob, gate);
  const Job* const job = last_job(cluster, cronjob);
  const auto table = timetable(cronjob, cluster.zones);
  const std::optional<WallTime> due = last_due(cluster, cronjob);
  const bool missing = due && is_missing(cluster, cronjob, job, *due);
  if (!table) {
    why.about = "its schedule";
    why.findings.push_back({"bad_schedule", table.error().message, table.error().hint});
  } else if (is_unreadable(cluster, "Jobs")) {
    why.about = "its last run";
    why.findings.push_back(unreadable_cause(cluster, cronjob));
  } else if (cronjob.suspended && (missing || job == nullptr)) {
    why.about = due ? "the run of " + rfc3339(*due) : "its runs";
    why.findings.push_back(
        {"suspended", "the CronJob is suspended: its schedule starts no run",
         kubectl_in(cronjob.namespace_name,
                    "patch cronjob " + cronjob.name + " -p '{\"spec\":{\"suspend\":false}}'")});
  } else if (missing) {
    why.about = "the run of " + rfc3339(*due);
    why.findings.push_back(missing_job(cluster, cronjob, *due));
  } else if (job != nullptr) {
    why.about = name_of_run(*job);
    why.findings = findings_of_job(cluster, cronjob, *job);
  } else if (cronjob.last_scheduled) {
    why.about = "the run of " + rfc3339(*cronjob.last_scheduled);
    why.findings.push_back(deleted_job(cluster, cronjob));
  } else {
    why.about = "its first run";
    const auto next = next_due(cronjob, cluster.zones, cluster.now);
    why.findings.push_back(
        {"not_due",
         "its first scheduled time has not passed" +
             (next ? "; next: " + rfc3339(*next) + " (in " + age(cluster.now, *next) + ')'
                   : std::string()),
         kubectl_in(cronjob.namespace_name, "create job --from=cronjob/" + cronjob.name + " " +
                                                cronjob.name + "-by-hand")});
  }
  why.findings.insert(why.findings.end(), gate.begin(), gate.end());
  if (cronjob.suspended && why.findings.front().code != "suspended")
    why.findings.push_back(
        {"suspended", "the CronJob is now suspended: no further run starts", ""});
  return why;
}

Output why_output(const Cluster& cluster, const CronJob& cronjob) {
  const Explanation why = explain_last_run(cluster, cronjob);
  Output output;
  output.json = {{"cronjob", cronjob.id()},
                 {"about", why.about},
                 {"findings", kube::Json::array()},
                 {"unreadable", cluster.unreadable}};
  Section section{.title = cronjob.id() + ": " + why.about};
  for (const RunFinding& finding : why.findings) {
    output.json["findings"].push_back(
        {{"code", finding.code}, {"what", finding.what}, {"next", finding.next}});
    section.lines.push_back("  " + finding.what);
    if (!finding.next.empty()) section.lines.push_back("    -> " + finding.next);
  }
  output.sections.push_back(std::move(section));
  if (!cluster.status_page)
    output.sections.push_back({.lines = {"no live lock state (" + cluster.page_error + ")"}});
  add_unavailable_servers(cluster, output);
  return output;
}

}  // namespace cronlatch::plugin
