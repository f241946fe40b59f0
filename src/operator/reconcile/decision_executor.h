// SPDX-License-Identifier: Apache-2.0
// DecisionExecutor: executes decisions with the API while this replica leads: Events, and
// annotations of CronJobs. A repeated execution has no further effect. It counts nothing. Thread
// rule: any method from any thread.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "base/log.h"
#include "kube/api.h"
#include "kube/election.h"
#include "operator/reconcile/apply_result.h"
#include "operator/reconcile/decide.h"
#include "operator/reconcile/event_recorder.h"

namespace cronlatch::op {

class DecisionExecutor {
 public:
  struct Dependencies {
    kube::Api& api;
    const Log& log;
    kube::Election& election;
    EventRecorder& events;
  };
  explicit DecisionExecutor(Dependencies dependencies) : deps_(std::move(dependencies)) {}

  // In order, up to the first that must be retried.
  ApplyResult execute(const std::vector<Decision>& decisions) const;
  // From abandon() until resume(), execute() begins no request and returns retry.
  void abandon() { abandoned_ = true; }
  void resume() { abandoned_ = false; }

 private:
  ApplyResult send(const PatchCronJob& patch) const;
  void record_refusal(const PatchCronJob& patch, const std::string& why) const;

  const Dependencies deps_;
  std::atomic<bool> abandoned_{false};
};

}  // namespace cronlatch::op
