// SPDX-License-Identifier: Apache-2.0
// Finished runs: the Event that each outcome is recorded as, on the Job and on its CronJob.
#include "core/outcome_text.h"
#include "gated/run_result.h"
#include "operator/reconcile/decide.h"

namespace cronlatch::op {
namespace {

struct RunEvent {
  std::string_view reason;
  kube::EventType type;
  std::string note;
};

RunEvent event_of(const GatedRun& run, Kind kind) {
  constexpr std::string_view kSeeLog = "; the pod's log contains the error";
  constexpr auto kNormal = kube::EventType::normal;
  constexpr auto kWarning = kube::EventType::warning;
  const std::string sentence = outcome_sentence(facts_of(run.result, kind, run.exit_code));
  switch (kind) {
    case Kind::ran:
      if (run.result.reason == Reason::ungated) return {"RanWithoutLock", kWarning, sentence};
      return {"Acquired", kNormal, sentence};
    case Kind::skipped:
      return {"Skipped", kNormal, sentence};
    case Kind::busy:
      return {"Busy", kWarning, sentence};
    case Kind::lost:
      return {run.result.reason == Reason::taken ? "Stolen" : "Lost", kWarning, sentence};
    case Kind::store_down:
      return {"StoreDown", kWarning, sentence};
    case Kind::refused:
      return {"Refused", kWarning, sentence + std::string(kSeeLog)};
    case Kind::timed_out:
      return {"TimedOut", kWarning, sentence};
    case Kind::interrupted:
      return {"Interrupted", kNormal, sentence};
    case Kind::cannot_start:
    case Kind::usage:
      return {"CannotStart", kWarning, sentence + std::string(kSeeLog)};
  }
  return {};
}

// The container ended without an outcome: the wrapper was killed, or was never started.
struct MissingOutcome {
  RunEvent event;
  Reason counted;
};
std::optional<MissingOutcome> missing_outcome(const GatedRun& run) {
  constexpr int kSignaled = 128;
  const std::string how = "(" + (run.ended.empty() ? "" : run.ended + ", ") + "exit code " +
                          std::to_string(run.exit_code) + ")";
  if (run.ended == "StartError" || run.ended == "ContainerCannotRun")
    return MissingOutcome{{"CannotStart", kube::EventType::warning,
                           "the container runtime could not start the container " + how},
                          Reason::exec};
  if (run.ended != "OOMKilled" && run.exit_code <= kSignaled) return std::nullopt;
  return MissingOutcome{{"Killed", kube::EventType::warning,
                         "killed before it reported a result " + how +
                             "; a lock that it held is free when its lease ends"},
                        Reason::signal};
}

bool is_error(Kind kind) {
  switch (kind) {
    case Kind::store_down:
    case Kind::refused:
    case Kind::cannot_start:
    case Kind::usage:
      return true;
    case Kind::ran:
    case Kind::skipped:
    case Kind::busy:
    case Kind::lost:
    case Kind::timed_out:
    case Kind::interrupted:
      return false;
  }
  return false;
}

}  // namespace

std::vector<Decision> decide_run(const GatedRun& run, const kube::ObjectRef& cronjob) {
  std::vector<Decision> decisions;
  const auto record = [&](const RunEvent& event) {
    for (const kube::ObjectRef& object : {run.job, cronjob})
      if (!object.name.empty())
        decisions.push_back(kube::Event{.regarding = object,
                                        .related = run.pod,
                                        .identity = run.pod.uid,
                                        .type = event.type,
                                        .reason = event.reason,
                                        .action = "Run",
                                        .note = "pod " + run.pod.name + ": " + event.note});
  };
  const auto count = [&](Reason reason) {
    decisions.push_back(CountRunError{run.pod.namespace_name, cronjob.name, reason});
  };
  if (!run.result.kind) {
    if (const auto missing = missing_outcome(run)) {
      record(missing->event);
      count(missing->counted);
    }
    return decisions;
  }
  if (run.result.stole)
    record({"Stolen", kube::EventType::warning,
            "took over lock " + run.result.lock + ", whose last lease had expired unreleased"});
  record(event_of(run, *run.result.kind));
  if (run.result.not_marked) {
    record({"DoneNotRecorded", kube::EventType::warning,
            "finished its scheduled time, but the store could not record it; a later run may "
            "repeat the work"});
    count(Reason::not_marked);
  }
  if (is_error(*run.result.kind))
    count(run.result.reason == Reason::none ? Reason::config : run.result.reason);
  return decisions;
}

}  // namespace cronlatch::op
