// SPDX-License-Identifier: Apache-2.0
// The decisions of the leader. Pure: an object in, an ordered list of decisions out. The reconciler
// executes them and stops at the first failure.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "admission/settings.h"
#include "kube/events.h"
#include "kube/json.h"
#include "operator/metrics/cronjob_state.h"
#include "operator/metrics/gated_cronjob.h"
#include "operator/reconcile/gated_run.h"
#include "operator/reconcile/lock_demand.h"

namespace cronlatch::op {

// Server-side apply of annotations on spec.jobTemplate, or the removal of copies without a source.
struct PatchCronJob {
  kube::Request request;
  kube::ObjectRef cronjob;
  std::string what;  // the annotations, for messages
};
// One of cronlatch_run_errors_total: errors that an unavailable store cannot count.
struct CountRunError {
  std::string namespace_name;
  std::string cronjob;  // empty: a Job without a CronJob, or of a deleted one
  Reason reason;
};
struct CountUngatedJob {
  std::string namespace_name;
};
using Decision = std::variant<PatchCronJob, kube::Event, CountRunError, CountUngatedJob>;

struct CronJobVerdict {
  CronJobState state = CronJobState::ungated;
  std::vector<Decision> decisions;
  // Both for valid annotations that request a lock.
  std::optional<GatedCronJob> gated{};
  std::optional<LockDemand> demand{};
};

CronJobVerdict decide_cronjob(const kube::Json& cronjob, const Settings& settings);

// `cronjob` owns the Job; its name is empty if there is none or if the Job was deleted.
std::vector<Decision> decide_run(const GatedRun& run, const kube::ObjectRef& cronjob);

// Complete or Failed: none of its pods runs.
bool has_finished(const kube::Json& job);

// A Job that admission would have gated, or gated differently, and that runs: webhook and policies
// were bypassed. `demand` is that of its CronJob; nullptr: none.
std::vector<Decision> decide_job(const kube::Json& job, const LockDemand* demand,
                                 const Settings& settings, const EnforcementTimes& enforcement);

}  // namespace cronlatch::op
