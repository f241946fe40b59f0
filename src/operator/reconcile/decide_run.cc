// SPDX-License-Identifier: Apache-2.0
// Finished runs: which kube::Event each outcome is, on the Job and on its CronJob.
#include "base/rfc3339.h"
#include "operator/reconcile/decide.h"

namespace cronlatch::op {
namespace {

struct Told {
  std::string_view reason;
  kube::EventType tone;
  std::string note;
};

std::string seconds(Millis time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

// The fence of a lock is the microsecond, by the store's clock, at which it was granted (later only
// where two grants were closer than that).
std::string since(const GatedRun& run) {
  if (!run.since.empty()) return run.since;
  if (run.fence.size() != 16 || run.fence.find_first_not_of("0123456789") != std::string::npos)
    return "";
  return rfc3339({std::stoll(run.fence)});
}

std::string lease(const GatedRun& run) {
  std::string text = "lock " + run.lock + " is held by " + run.holder;
  if (const std::string from = since(run); !from.empty()) text += " since " + from;
  if (!run.until.empty()) text += ", lease until " + run.until;
  return text;
}

std::string ours(const GatedRun& run) {
  return "lock " + run.lock + " for " + seconds(run.held) + " (fence " + run.fence + ")";
}

Told told_ran(const GatedRun& run) {
  if (run.reason == Reason::ungated)
    return {"RanWithoutLock", kube::EventType::warning,
            "ran without a lock, because the store was away and on-store-down is run; exit code " +
                std::to_string(run.exit_code)};
  return {"Acquired", kube::EventType::normal,
          "held " + ours(run) + " after " + seconds(run.waited) + " of waiting; exit code " +
              std::to_string(run.exit_code)};
}

Told told_lost(const GatedRun& run) {
  const std::string why(name_of(run.reason));
  if (run.reason == Reason::taken)
    return {"Stolen", kube::EventType::warning,
            "held " + ours(run) +
                "; its lease ended unrenewed and another run took the lock, so "
                "the command was stopped"};
  return {"Lost", kube::EventType::warning,
          "held " + ours(run) + ", then lost the lease (" + why + "), so the command was stopped"};
}

Told told(const GatedRun& run, Kind kind) {
  const std::string why(name_of(run.reason));
  switch (kind) {
    case Kind::ran:
      return told_ran(run);
    case Kind::skipped:
      if (run.reason == Reason::done)
        return {"Skipped", kube::EventType::normal, "skipped: this scheduled time is done already"};
      return {"Skipped", kube::EventType::normal, "skipped: " + lease(run)};
    case Kind::busy:
      return {"Busy", kube::EventType::warning,
              "gave up after " + seconds(run.waited) + ": " + lease(run)};
    case Kind::lost:
      return told_lost(run);
    case Kind::store_down:
      return {"StoreDown", kube::EventType::warning,
              "not started: the store did not answer (" + why + ") for " + seconds(run.waited)};
    case Kind::refused:
      return {"Refused", kube::EventType::warning,
              "not started: the store or the configuration forbids it (" + why +
                  "); the pod's log says what"};
    case Kind::timed_out:
      return {"TimedOut", kube::EventType::warning,
              "ran longer than max-run and was stopped; held " + ours(run)};
    case Kind::interrupted:
      return {"Interrupted", kube::EventType::normal,
              "told to stop before the command was started"};
    case Kind::cannot_start:
      return {"CannotStart", kube::EventType::warning,
              "the command is not found or cannot be executed; the pod's log says which"};
    case Kind::usage:
      return {"CannotStart", kube::EventType::warning,
              "the wrapper was called wrongly; the pod's log says how"};
  }
  return {};
}

// Nobody wrote down how the run ended: whoever does that was killed, or never began.
struct Silent {
  Told told;
  Reason reason;
};
std::optional<Silent> without_a_word(const GatedRun& run) {
  constexpr int kSignalled = 128;
  const std::string how = "(" + (run.ended.empty() ? "" : run.ended + ", ") + "exit code " +
                          std::to_string(run.exit_code) + ")";
  if (run.ended == "StartError" || run.ended == "ContainerCannotRun")
    return Silent{{"CannotStart", kube::EventType::warning,
                   "was not started by the container runtime " + how},
                  Reason::exec};
  if (run.ended != "OOMKilled" && run.exit_code <= kSignalled) return std::nullopt;
  return Silent{{"Killed", kube::EventType::warning,
                 "was killed before it could say how its run ended " + how +
                     "; if it held the lock, that is free when its lease has passed"},
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
  const auto tell = [&](const Told& what) {
    for (const kube::ObjectRef& about : {run.job, cronjob})
      if (!about.name.empty())
        decisions.push_back(kube::Event{.regarding = about,
                                        .related = run.pod,
                                        .identity = run.pod.uid,
                                        .type = what.tone,
                                        .reason = what.reason,
                                        .action = "Run",
                                        .note = "pod " + run.pod.name + " " + what.note});
  };
  const auto count = [&](Reason reason) {
    decisions.push_back(CountRunError{run.pod.namespace_name, cronjob.name, reason});
  };
  if (!run.kind) {
    if (const auto silent = without_a_word(run)) {
      tell(silent->told);
      count(silent->reason);
    }
    return decisions;
  }
  if (run.stole)
    tell({"Stolen", kube::EventType::warning,
          "took lock " + run.lock + " over: its last holder's lease had expired unreleased"});
  tell(told(run, *run.kind));
  if (run.not_marked) {
    tell({"DoneNotRecorded", kube::EventType::warning,
          "finished its scheduled time, but could not record it in the store: a later run may do "
          "the same work again"});
    count(Reason::not_marked);
  }
  if (is_error(*run.kind)) count(run.reason == Reason::none ? Reason::config : run.reason);
  return decisions;
}

}  // namespace cronlatch::op
