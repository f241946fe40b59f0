// SPDX-License-Identifier: Apache-2.0
// In this order: refused, prevented by an active run, too late, or no controller.
#include "plugin/why_missing.h"

#include "base/rfc3339.h"

namespace cronlatch::plugin {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

RunFinding refused(const CronJob& cronjob, const ClusterEvent& event) {
  const std::string& message = event.message;
  if (contains(message, "denied the request") && contains(message, "cronlatch.dev"))
    return {"refused", "cronlatch refused the Job: " + message,
            "correct what the message names; kubectl cronlatch describe " + cronjob.name};
  if (contains(message, "annotated-jobs-need-the-operator.cronlatch.dev") ||
      (contains(message, "ValidatingAdmissionPolicy") && contains(message, "-gated-jobs")))
    return {"operator_away",
            "the Job was refused because no cronlatch operator answered: " + message,
            "kubectl get pods -A -l app.kubernetes.io/part-of=cronlatch; the controller retries "
            "until startingDeadlineSeconds. To run now without a lock: annotate the Job template "
            "with cronlatch.dev/lock=false"};
  if (contains(message, "quota"))
    return {"quota", "the Job exceeds a quota: " + message,
            kubectl_in(cronjob.namespace_name, "describe resourcequota")};
  return {"refused", "the Job was refused: " + message, "correct what the message names"};
}

const Job* active_at(const Cluster& cluster, const CronJob& cronjob, WallTime due) {
  for (const Job& job : cluster.jobs)
    if (job.cronjob == cronjob.name && job.namespace_name == cronjob.namespace_name &&
        !job.complete && !job.failed && job.created && *job.created < due)
      return &job;
  return nullptr;
}

bool is_after(const ClusterEvent* event, WallTime due) {
  return event != nullptr && event->at && event->at->us + kControllerDelay >= due.us;
}

}  // namespace

RunFinding missing_job(const Cluster& cluster, const CronJob& cronjob, WallTime due) {
  const std::string when = rfc3339(due);
  if (const ClusterEvent* const event = newest_cronjob_event(cluster, cronjob, {"FailedCreate"});
      is_after(event, due))
    return refused(cronjob, *event);
  const Job* const active = active_at(cluster, cronjob, due);
  const ClusterEvent* const busy = newest_cronjob_event(cluster, cronjob, {"JobAlreadyActive"});
  if (cronjob.concurrency == "Forbid" && (active != nullptr || is_after(busy, due)))
    return {"forbid_active",
            "concurrencyPolicy is Forbid and the previous run had not ended" +
                (active == nullptr
                     ? std::string()
                     : ": Job " + active->name + ", created " + rfc3339(*active->created)),
            active == nullptr ? ""
                              : kubectl_in(cronjob.namespace_name, "logs -f job/" + active->name) +
                                    "; cronlatch.dev/max-run terminates a run that takes too long"};
  const ClusterEvent* const missed =
      newest_cronjob_event(cluster, cronjob, {"MissSchedule", "TooManyMissedTimes"});
  const bool deadline_passed =
      cronjob.starting_deadline &&
      cluster.now.us - due.us > cronjob.starting_deadline->count() * 1'000'000;
  if (is_after(missed, due) || deadline_passed)
    return {
        "missed_deadline",
        "it was due at " + when + " and was not started in time" +
            (cronjob.starting_deadline
                 ? " (startingDeadlineSeconds is " +
                       std::to_string(cronjob.starting_deadline->count()) + ")"
                 : std::string()) +
            (missed == nullptr ? std::string() : ": " + missed->message),
        "the controller manager was unavailable or slow; set a longer startingDeadlineSeconds. To "
        "run it now: " +
            kubectl_in(cronjob.namespace_name, "create job --from=cronjob/" + cronjob.name + " " +
                                                   cronjob.name + "-by-hand")};
  if (is_unreadable(cluster, "Events")) return unreadable_cause(cluster, cronjob);
  return {"no_job",
          "it was due at " + when +
              ", but there is no Job for that time, and no Event contains the reason",
          "Events expire after one hour by default. Check that kube-controller-manager runs; " +
              kubectl_in(cronjob.namespace_name, "describe cronjob " + cronjob.name)};
}

}  // namespace cronlatch::plugin
