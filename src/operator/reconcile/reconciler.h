// SPDX-License-Identifier: Apache-2.0
// Reconciler: executes the decisions of decide.h, object by object, while this replica leads.
// Failed decisions are retried later. An execution by two leaders has the effect of one. One
// thread.
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
#include "operator/reconcile/change_queue.h"
#include "operator/reconcile/decide.h"
#include "operator/reconcile/decision_executor.h"
#include "operator/reconcile/reported_pods.h"

namespace cronlatch::op {

class Reconciler {
 public:
  struct Dependencies {
    const Settings& settings;
    kube::Api& api;
    Metrics& metrics;
    Exporter& exporter;
    const Clock& clock;
    const Log& log;
    kube::Election& election;
    std::string instance;  // name of this pod
  };
  explicit Reconciler(Dependencies dependencies);

  void begin_term();  // clears all state, reads the checkpoint
  void end_term();
  void process(const ObjectChange& change);
  // Called about once a second: retries, and counts the runs that the stored checkpoint contains.
  void tick();

 private:
  struct Finished {
    GatedRun run;
    std::vector<CountRunError> counts;
  };
  struct Retry {
    ObjectChange change;
    TimePoint at;
    Millis wait;
  };

  ApplyResult reconcile(const ObjectChange& change);
  ApplyResult reconcile_cronjob(const kube::Json& object);
  ApplyResult reconcile_job(const kube::Json& object);
  const LockDemand* demand_on(const kube::ObjectRef& job_owner) const;
  ApplyResult reconcile_pod(const kube::Json& object);
  void schedule_retry(const ObjectChange& change, Millis wait);
  void cronjob_deleted(const kube::ObjectKey& key);
  void save_checkpoint();
  void count_checkpointed();
  kube::ObjectRef cronjob_of(const kube::ObjectRef& job, bool& unknown);

  const Dependencies deps_;
  const DecisionExecutor decision_executor_;
  CronJobStateCounter cronjob_states_;
  ReportedPods reported_;
  std::set<std::string> in_progress_;  // UIDs of pods with recorded Events that are not counted yet
  std::vector<Finished> recorded_;     // not yet in a checkpoint
  std::vector<Finished> in_checkpoint_;  // in the checkpoint that the next renewal writes
  std::string pending_checkpoint_;
  bool pods_listed_ = false;
  bool cronjobs_listed_ = false;
  std::map<kube::ObjectKey, LockDemand> demands_;  // of CronJobs that request a lock
  bool checkpoint_changed_ = false;                // the checkpoint in the Lease is out of date
  std::set<std::string> reported_jobs_;            // UIDs of counted Jobs
  std::map<std::string, Retry> retries_;
};

}  // namespace cronlatch::op
