// SPDX-License-Identifier: Apache-2.0
// From the outside in: the CronJob, the moment it was due, the Job, the pod, the wrapper's word.
#include "plugin/why.h"

#include "base/rfc3339.h"
#include "plugin/why_missing.h"
#include "plugin/why_pod.h"

namespace cronlatch::plugin {
namespace {

std::string quoted_name(const std::string& name) { return name.empty() ? "?" : name; }

// ---- not gated, or not as meant ----

void check_gate(const Cluster& cluster, const CronJob& cronjob, std::vector<Finding>& out) {
  if (cronjob.written_out()) return;
  if (!cronjob.wants_lock()) {
    out.push_back({"not_gated", "it asks for no lock, so nothing gates it",
                   kubectl_in(cronjob.namespace_name,
                              "annotate cronjob " + cronjob.name + " cronlatch.dev/lock=true")});
    return;
  }
  if (const Event* const bad = event_about(cluster, cronjob, {"InvalidAnnotations"}))
    out.push_back({"bad_annotation", "its annotations are refused: " + bad->message,
                   "correct the annotation and apply the CronJob again"});
  if (cronjob.mirrored.contains("lock")) return;
  out.push_back(
      {"not_mirrored",
       "it is annotated, but spec.jobTemplate.metadata.annotations does not repeat it, so its "
       "Jobs run without a lock: the operator was not there when it was annotated",
       "see that the operator runs (its leader repeats annotations by itself), or apply "
       "the CronJob again"});
}

// ---- which run is meant ----

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
  const auto due = previous_run(table->schedule, table->zone, cluster.now);
  if (!due || (cronjob.created && *due < *cronjob.created)) return std::nullopt;
  return due;
}

// There is no Job for it, although the controller has had its time.
bool is_missing(const Cluster& cluster, const CronJob& cronjob, const Job* last, WallTime due) {
  if (cluster.now.us - due.us < kPatience) return false;
  // It had a Job: that may be gone again.
  if (cronjob.last_scheduled && *cronjob.last_scheduled >= due) return false;
  return last == nullptr || time_of(*last) < due;
}

// The Job that the controller made is gone, with its pods. What is left is what the operator said.
Finding gone(const Cluster& cluster, const CronJob& cronjob) {
  const Event* const told =
      event_about(cluster, cronjob,
                  {"Skipped", "Acquired", "Busy", "Lost", "Stolen", "StoreDown", "Refused",
                   "TimedOut", "CannotStart", "Interrupted", "RanWithoutLock"});
  if (told == nullptr)
    return {"gone",
            "its Job is gone (history limits, ttlSecondsAfterFinished), and no Event is left",
            "raise successfulJobsHistoryLimit and failedJobsHistoryLimit where you look at it; "
            "`cronlatch_runs_total` counts every run"};
  return {"gone", "its Job is gone; the operator said of it: " + told->message, ""};
}

std::vector<Finding> judge_job(const Cluster& cluster, const CronJob& cronjob, const Job& job) {
  if (job.suspended)
    return {{"job_suspended", "its Job " + job.name + " is suspended (a queue, or somebody)",
             kubectl_in(cronjob.namespace_name,
                        "patch job " + job.name + " -p '{\"spec\":{\"suspend\":false}}'")}};
  const Pod* pod = nullptr;
  for (const Pod& one : cluster.pods)
    if (one.job == job.name && one.namespace_name == job.namespace_name &&
        (pod == nullptr || one.created.value_or(WallTime{}) > pod->created.value_or(WallTime{})))
      pod = &one;
  std::vector<Finding> out;
  if (!job.gated && job.wants_lock)
    out.push_back({"ran_ungated",
                   "Job " + job.name +
                       " asks for a lock, but its containers run without: it was "
                       "created while the admission webhook was not in force",
                   "see that the operator and its policies are installed and in force"});
  if (pod != nullptr) {
    for (Finding& finding : judge_pod(cluster, job, *pod)) out.push_back(std::move(finding));
    return out;
  }
  const Event* const failed =
      newest_event(cluster, job.namespace_name, "Job", job.name, {"FailedCreate"});
  if (failed != nullptr && !job.complete) {
    out.push_back({"no_pod", "its pod was refused: " + failed->message,
                   "correct what the message names (Pod Security, quota, another webhook)"});
  } else if (job.failed) {
    out.push_back({"job_failed",
                   "Job " + job.name + " failed (" + quoted_name(job.failure) +
                       "): " + job.message + "; its pods are gone",
                   ""});
  } else if (job.complete) {
    out.push_back(gone(cluster, cronjob));
    out.back().what = "Job " + job.name + " is complete, its pod is gone. " + out.back().what;
  } else {
    out.push_back({"no_pod", "Job " + job.name + " has no pod yet",
                   kubectl_in(cronjob.namespace_name, "describe job " + job.name)});
  }
  return out;
}

std::string name_of_run(const Job& job) {
  return (job.scheduled ? "the run of " + rfc3339(*job.scheduled)
                        : "the run by hand of " + rfc3339(time_of(job))) +
         " (Job " + job.name + ')';
}

}  // namespace

std::string kubectl_in(const std::string& namespace_name, const std::string& words) {
  return "kubectl -n " + namespace_name + ' ' + words;
}

Why explain_last_run(const Cluster& cluster, const CronJob& cronjob) {
  Why why;
  std::vector<Finding> gate;
  check_gate(cluster, cronjob, gate);
  const Job* const job = last_job(cluster, cronjob);
  const auto table = timetable(cronjob, cluster.zones);
  const std::optional<WallTime> due = last_due(cluster, cronjob);
  const bool missing = due && is_missing(cluster, cronjob, job, *due);
  if (!table) {
    why.about = "its schedule";
    why.findings.push_back({"bad_schedule", table.error().message, table.error().hint});
  } else if (cronjob.suspended && (missing || job == nullptr)) {
    why.about = due ? "the run of " + rfc3339(*due) : "its runs";
    why.findings.push_back(
        {"suspended", "the CronJob is suspended: no run starts by its schedule",
         kubectl_in(cronjob.namespace_name,
                    "patch cronjob " + cronjob.name + " -p '{\"spec\":{\"suspend\":false}}'")});
  } else if (missing) {
    why.about = "the run of " + rfc3339(*due);
    why.findings.push_back(no_job(cluster, cronjob, *due));
  } else if (job != nullptr) {
    why.about = name_of_run(*job);
    why.findings = judge_job(cluster, cronjob, *job);
  } else if (cronjob.last_scheduled) {
    why.about = "the run of " + rfc3339(*cronjob.last_scheduled);
    why.findings.push_back(gone(cluster, cronjob));
  } else {
    why.about = "its first run";
    const auto next = next_due(cronjob, cluster.zones, cluster.now);
    why.findings.push_back(
        {"not_due",
         "it has not been due yet" +
             (next ? "; next: " + rfc3339(*next) + " (in " + age(cluster.now, *next) + ')'
                   : std::string()),
         kubectl_in(cronjob.namespace_name, "create job --from=cronjob/" + cronjob.name + " " +
                                                cronjob.name + "-by-hand")});
  }
  // A gate that is not there is worth more than what became of a run, unless that is news itself.
  why.findings.insert(why.findings.end(), gate.begin(), gate.end());
  if (cronjob.suspended && why.findings.front().code != "suspended")
    why.findings.push_back(
        {"suspended", "the CronJob is suspended now: no further run starts", ""});
  return why;
}

Page why_page(const Cluster& cluster, const CronJob& cronjob) {
  const Why why = explain_last_run(cluster, cronjob);
  Page page;
  page.json = {{"cronjob", cronjob.id()}, {"about", why.about}, {"findings", kube::Json::array()}};
  Block block{.title = cronjob.id() + ": " + why.about};
  for (const Finding& finding : why.findings) {
    page.json["findings"].push_back(
        {{"code", finding.code}, {"what", finding.what}, {"next", finding.next}});
    block.lines.push_back("  " + finding.what);
    if (!finding.next.empty()) block.lines.push_back("    -> " + finding.next);
  }
  page.blocks.push_back(std::move(block));
  if (!cluster.page)
    page.blocks.push_back({.lines = {"no live lock state (" + cluster.no_page + ")"}});
  return page;
}

}  // namespace cronlatch::plugin
