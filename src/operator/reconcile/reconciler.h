// SPDX-License-Identifier: Apache-2.0
// Reconciler: carries out what decide.h decides about one object after the other, as long as we
// lead. What fails is tried again later; what was done twice by two leaders is one thing in the
// API. One thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "admission/settings.h"
#include "base/log.h"
#include "kube/api.h"
#include "kube/election.h"
#include "operator/metrics/cronjob_state_counter.h"
#include "operator/metrics/exporter.h"
#include "operator/metrics/metrics.h"
#include "operator/reconcile/decide.h"
#include "operator/reconcile/decision_executor.h"
#include "operator/reconcile/change_queue.h"
#include "operator/reconcile/reported_pods.h"

namespace cronlatch::op {

class Reconciler {
 public:
  struct Parts {
    const Settings& settings;
    kube::Api& api;
    Metrics& metrics;
    Exporter& exporter;
    const Clock& clock;
    const Log& log;
    kube::Election& election;
    std::string instance;  // our pod's name
  };
  explicit Reconciler(Parts parts);

  void begin_term();  // we lead from now on: forget everything, read the note
  void end_term();
  void take(const Seen& seen);
  // Between objects, about once a second: retries, and counting what the note has saved.
  void tick();

 private:
  struct Finished {
    GatedRun run;
    std::vector<CountRunError> counts;
  };
  struct Retry {
    Seen seen;
    TimePoint at;
    Millis wait;
  };

  ApplyResult reconcile(const Seen& seen);
  ApplyResult cronjob(const kube::Json& object);
  ApplyResult job(const kube::Json& object);
  const LockDemand* demand_on(const kube::ObjectRef& job_owner) const;
  ApplyResult pod(const kube::Json& object);
  void later(const Seen& seen, Millis wait);
  void cronjob_gone(const kube::ObjectKey& key);
  void save_note();
  void count_saved();
  kube::ObjectRef cronjob_of(const kube::ObjectRef& job, bool& unknown);

  const Parts parts_;
  const DecisionExecutor decision_executor_;
  CronJobStateCounter cronjob_states_;
  ReportedPods counted_;
  std::set<std::string> under_way_;  // UIDs of pods that were told and are not yet counted
  std::vector<Finished> told_;       // not yet in a note
  std::vector<Finished> noted_;      // in the note that waits for the next renewal
  std::string pending_note_;
  bool pods_listed_ = false;
  bool cronjobs_listed_ = false;
  std::map<kube::ObjectKey, LockDemand> demands_;  // of CronJobs that ask for a lock
  bool unwritten_ = false;         // the note knows of CronJobs what the Lease does not
  std::set<std::string> ungated_;  // UIDs of Jobs that were counted
  std::map<std::string, Retry> retries_;
};

}  // namespace cronlatch::op
