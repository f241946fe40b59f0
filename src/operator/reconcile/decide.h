// SPDX-License-Identifier: Apache-2.0
// What the leader does about what it sees. Pure: an object in, a list of decisions out, in order;
// the reconciler carries them out and stops at the first that fails.
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

// Server-side apply of our annotations on spec.jobTemplate, or removal of copies without a source.
struct PatchCronJob {
  kube::Request request;
  std::string what;  // for the log
};
// One of cronlatch_run_errors_total: what a store that cannot be reached cannot count.
struct CountRunError {
  std::string namespace_name;
  std::string cronjob;  // empty: a Job without one, or of one that is gone
  Reason reason;
};
struct CountUngated {
  std::string namespace_name;
};
using Decision = std::variant<PatchCronJob, kube::Event, CountRunError, CountUngated>;

struct CronJobVerdict {
  CronJobState state = CronJobState::ungated;
  std::vector<Decision> decisions;
  // Both where its annotations are in order and ask for a lock.
  std::optional<GatedCronJob> gated{};
  std::optional<LockDemand> demand{};
};

CronJobVerdict decide_cronjob(const kube::Json& cronjob, const Settings& settings);

// `cronjob` is the Job's owner; its name is empty where there is none or the Job is gone.
std::vector<Decision> decide_run(const GatedRun& run, const kube::ObjectRef& cronjob);

// Complete or failed: no pod of it runs any more.
bool is_over(const kube::Json& job);

// A Job that admission would have gated, or gated otherwise, and that runs all the same: the
// webhook was not in force, and neither were the policies. `demand` is its CronJob's; nullptr:
// none.
std::vector<Decision> decide_job(const kube::Json& job, const LockDemand* demand,
                                 const Settings& settings, const InForce& in_force);

}  // namespace cronlatch::op
