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
#include "core/log.h"
#include "kube/api.h"
#include "kube/election.h"
#include "operator/carrier.h"
#include "operator/counted_pods.h"
#include "operator/decide.h"
#include "operator/exporter.h"
#include "operator/inbox.h"
#include "operator/metrics.h"
#include "operator/tally.h"

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

  Carried reconcile(const Seen& seen);
  Carried cronjob(const kube::Json& object);
  Carried job(const kube::Json& object);
  const LockDemand* demand_on(const ObjectRef& job_owner) const;
  Carried pod(const kube::Json& object);
  void later(const Seen& seen, Millis wait);
  void cronjob_gone(const kube::ObjectKey& key);
  void save_note();
  void count_saved();
  ObjectRef cronjob_of(const ObjectRef& job, bool& unknown);

  const Parts parts_;
  const Carrier carrier_;
  Tally tally_;
  CountedPods counted_;
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
