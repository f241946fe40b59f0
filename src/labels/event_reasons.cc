// SPDX-License-Identifier: Apache-2.0
#include "labels/event_reasons.h"

#include <algorithm>
#include <array>

namespace cronlatch {
namespace {

constexpr auto kRoutine = EventGroup::routine;
constexpr auto kFailure = EventGroup::failure;
constexpr auto kViolation = EventGroup::violation;
constexpr bool kState = true, kRequired = true;
constexpr std::string_view kRun = "Job, CronJob";

// name, group, state, required, objects, help
// clang-format off
constexpr std::array kReasons = {
    EventReason{"Acquired", kRoutine, !kState, !kRequired, kRun, "The run had the lock, and its command ended."},
    EventReason{"AdmissionBypassed", kViolation, kState, kRequired, "Job", "A Job that requests a lock runs without one: admission did not gate it."},
    EventReason{"Busy", kFailure, !kState, !kRequired, kRun, "The lock was held, and the run failed (`on-busy: fail`, or `wait` with a timeout)."},
    EventReason{"CannotStart", kFailure, !kState, !kRequired, kRun, "The command or its container could not be started, or an option is invalid."},
    EventReason{"DoneNotRecorded", kViolation, !kState, !kRequired, kRun, "A run finished its scheduled time, but the store could not record it: a later run may repeat the work."},
    EventReason{"EntrypointUnknown", kFailure, kState, !kRequired, "CronJob", "The command of an image could not be read from its registry."},
    EventReason{"Interrupted", kRoutine, !kState, !kRequired, kRun, "A signal ended the run before its command started."},
    EventReason{"InvalidAnnotations", kFailure, kState, !kRequired, "CronJob", "The annotations are invalid; the note contains the error and a valid value."},
    EventReason{"Killed", kFailure, !kState, !kRequired, kRun, "The container was killed before it reported a result."},
    EventReason{"Lost", kViolation, !kState, !kRequired, kRun, "The lease was lost during the run, and the command was stopped."},
    EventReason{"Mirrored", kRoutine, !kState, !kRequired, "CronJob", "The operator copied annotations to the Job template."},
    EventReason{"NotMirrored", kFailure, kState, !kRequired, "CronJob", "Copies of annotations are missing: `patch-cronjobs` is false, or the API server refused them, for the reason in the note."},
    EventReason{"RanWithoutLock", kViolation, !kState, !kRequired, kRun, "The store was unavailable, and the command ran without a lock (`on-store-down: run`)."},
    EventReason{"Refused", kFailure, !kState, !kRequired, kRun, "The store or an option refused the run; its command did not start."},
    EventReason{"Skipped", kRoutine, !kState, !kRequired, kRun, "The lock was held or the run identity was done, and the run was skipped."},
    EventReason{"Stolen", kViolation, !kState, !kRequired, kRun, "A run took over a lock whose lease had expired, or its own lock was taken over."},
    EventReason{"StoreDown", kFailure, !kState, !kRequired, kRun, "The store was unavailable, and the command did not start."},
    EventReason{"StoreSwitched", kFailure, !kState, !kRequired, "Pod", "The operator reads the store from another server, for example another master after a failover; the Event is on its pod."},
    EventReason{"TimedOut", kFailure, !kState, !kRequired, kRun, "The command took longer than `max-run` and was stopped."},
};
// clang-format on

constexpr EventReason kUnknown{.name = "", .group = kViolation};

}  // namespace

std::string_view name_of(EventGroup group) {
  switch (group) {
    case EventGroup::routine:
      return "routine";
    case EventGroup::failure:
      return "failure";
    case EventGroup::violation:
      return "violation";
  }
  return "";
}

std::span<const EventReason> event_reasons() { return kReasons; }

const EventReason& event_reason(std::string_view name) {
  const auto row = std::find_if(kReasons.begin(), kReasons.end(),
                                [&](const EventReason& reason) { return reason.name == name; });
  return row == kReasons.end() ? kUnknown : *row;
}

std::string optional_event_reasons() {
  std::string names;
  for (const EventReason& reason : kReasons)
    if (!reason.is_required) names.append(names.empty() ? "" : ", ").append(reason.name);
  return names;
}

}  // namespace cronlatch
