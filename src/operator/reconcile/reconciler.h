// SPDX-License-Identifier: Apache-2.0
// Reconciler: executes the decisions of decide.h, object by object, while this replica leads.
// Failed decisions are retried later. An execution by two leaders has the effect of one.
//
// Thread rule: one thread calls the methods and owns all state. The requests are sent by `workers`,
// several at once; those for one object one at a time and in order. Their results are processed by
// the next call of process() or tick().
#pragma once

#include <functional>
#include <map>
#include <optional>
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
#include "operator/reconcile/event_recorder.h"
#include "operator/reconcile/job_owners.h"
#include "operator/reconcile/reported_pods.h"
#include "operator/reconcile/results.h"
#include "operator/reconcile/workers.h"

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
    Workers& workers;
    EventRecorder& events;
  };
  explicit Reconciler(Dependencies dependencies);

  void begin_term();  // clears all state, reads the checkpoint
  // Waits for the requests in progress. What no stored checkpoint contains is not counted: the next
  // leader counts it.
  void end_term();
  // False while too many pods wait for a retry: process() must not be called, so that none is lost.
  bool has_room() const { return waiting_pods_ < kMaxRetries; }
  void process(ObjectChange change);
  // Called about once a second: retries, and counts the runs that the stored checkpoint contains.
  void tick();

 private:
  static constexpr std::size_t kMaxRetries = 2'000;

  struct PodReport {
    FinishedPod pod;
    std::vector<CountRunError> counts{};
  };
  // The newest state of an object.
  struct Item {
    ObjectKind kind = ObjectKind::cronjob;
    std::string key, uid;
    kube::Json object{};             // as in ObjectChange
    kube::ObjectRef cronjob{};       // as in ObjectChange
    std::optional<PodReport> pod{};  // a pod
    Millis wait{};                   // before the next retry
    bool is_incomplete = false;      // a Job with namespace and name only
  };
  struct Retry {
    Item item;
    TimePoint at;
  };
  // An object whose request is in progress, and what happened to it since.
  struct Busy {
    std::optional<Item> newer{};  // its newest state, if it changed
    bool is_deleted = false;
  };
  // `work` is executed by a worker, and `done` afterwards on the thread of the Reconciler, unless
  // `work` returned retry.
  using Work = std::function<ApplyResult(Item& item)>;
  using Done = std::function<void(Item& item, ApplyResult result)>;

  void updated(ObjectChange change);
  void deleted(const ObjectChange& change);
  void handle(Item item);
  void reconcile_cronjob(Item item);
  void reconcile_job(Item item);
  void complete_job(Item item);
  void reconcile_pod(Item item);
  void submit(Item item, Work work, Done done);
  void finish(Item& item, ApplyResult result, const Done& done);
  void process_results();
  void schedule_retry(Item item);
  void retry_due();
  void cancel_retry(const std::string& item);
  const LockDemand* demand_on(const kube::ObjectRef& job_owner) const;
  std::optional<kube::Json> read_job(const kube::ObjectKey& key, const std::string& uid) const;
  std::optional<kube::ObjectRef> cronjob_of(const kube::ObjectRef& job) const;
  ApplyResult report(PodReport& report, const std::optional<kube::ObjectRef>& known_cronjob) const;
  void remember_former(const kube::ObjectKey& key, bool was_gated);
  void save_checkpoint();
  void count_checkpointed();

  const Dependencies deps_;
  DecisionExecutor decision_executor_;
  Results results_;
  CronJobStateCounter cronjob_states_;
  ReportedPods reported_;
  JobOwners job_owners_;
  std::vector<CountRunError> recorded_;       // not yet in a checkpoint
  std::vector<CountRunError> in_checkpoint_;  // in the checkpoint that the next renewal writes
  std::string pending_checkpoint_;
  bool pods_listed_ = false;
  bool cronjobs_listed_ = false;
  std::map<kube::ObjectKey, LockDemand> demands_;  // of CronJobs that request a lock
  bool checkpoint_changed_ = false;                // the checkpoint in the Lease is out of date
  std::set<std::string> reported_jobs_;            // UIDs of counted Jobs
  std::map<std::string, Retry> retries_;
  std::size_t waiting_pods_ = 0;  // in retries_
  std::map<std::string, Busy> busy_;
};

}  // namespace cronlatch::op
