// SPDX-License-Identifier: Apache-2.0
// Refused, held back by a run before it, too late, or nobody there to make it: in this order.
#include "plugin/why_missing.h"

#include "base/rfc3339.h"

namespace cronlatch::plugin {
namespace {

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Finding refused(const CronJob& cronjob, const Event& event) {
  const std::string& message = event.message;
  if (holds(message, "denied the request") && holds(message, "cronlatch.dev"))
    return {"refused", "cronlatch refused the Job: " + message,
            "correct what the message names; `kubectl cronlatch describe " + cronjob.name + "`"};
  if (holds(message, "annotated-jobs-need-the-operator.cronlatch.dev") ||
      (holds(message, "ValidatingAdmissionPolicy") && holds(message, "-gated-jobs")))
    return {
        "operator_away", "the Job was refused because no cronlatch operator answered: " + message,
        "kubectl get pods -A -l app.kubernetes.io/part-of=cronlatch; the controller tries again "
        "until startingDeadlineSeconds. To run now without a lock: annotate the Job template "
        "with cronlatch.dev/lock=false"};
  if (holds(message, "quota"))
    return {"quota", "a quota forbids the Job: " + message,
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

bool is_after(const Event* event, WallTime due) {
  return event != nullptr && event->at && event->at->us + kPatience >= due.us;
}

}  // namespace

Finding no_job(const Cluster& cluster, const CronJob& cronjob, WallTime due) {
  const std::string when = rfc3339(due);
  if (const Event* const event = event_about(cluster, cronjob, {"FailedCreate"});
      is_after(event, due))
    return refused(cronjob, *event);
  const Job* const active = active_at(cluster, cronjob, due);
  const Event* const busy = event_about(cluster, cronjob, {"JobAlreadyActive"});
  if (cronjob.concurrency == "Forbid" && (active != nullptr || is_after(busy, due)))
    return {"forbid_active",
            "concurrencyPolicy is Forbid and a run before it had not ended" +
                (active == nullptr
                     ? std::string()
                     : ": Job " + active->name + ", created " + rfc3339(*active->created)),
            active == nullptr ? ""
                              : kubectl_in(cronjob.namespace_name, "logs -f job/" + active->name) +
                                    "; cronlatch.dev/max-run would end a run that takes too long"};
  const Event* const missed = event_about(cluster, cronjob, {"MissSchedule", "TooManyMissedTimes"});
  const bool deadline_passed =
      cronjob.starting_deadline &&
      cluster.now.us - due.us > cronjob.starting_deadline->count() * 1'000'000;
  if (is_after(missed, due) || deadline_passed)
    return {"missed_deadline",
            "it was due at " + when + " and not started in time" +
                (cronjob.starting_deadline
                     ? " (startingDeadlineSeconds is " +
                           std::to_string(cronjob.starting_deadline->count()) + ")"
                     : std::string()) +
                (missed == nullptr ? std::string() : ": " + missed->message),
            "the controller manager was away or busy then; a longer startingDeadlineSeconds makes "
            "up for that. To run it now: " +
                kubectl_in(cronjob.namespace_name, "create job --from=cronjob/" + cronjob.name +
                                                       " " + cronjob.name + "-by-hand")};
  return {"no_job",
          "it was due at " + when + ", but there is no Job for that time and no Event says why",
          "Events live for an hour. Does kube-controller-manager run? " +
              kubectl_in(cronjob.namespace_name, "describe cronjob " + cronjob.name)};
}

}  // namespace cronlatch::plugin
