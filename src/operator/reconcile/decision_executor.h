// SPDX-License-Identifier: Apache-2.0
// DecisionExecutor: carries out decisions in the API, as long as we lead: Events, and a CronJob's
// annotations. What is done twice is one thing there. It counts nothing. One thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "kube/api.h"
#include "kube/election.h"
#include "operator/reconcile/decide.h"

namespace cronlatch::op {

// known: somebody has told the kube::Event before us. again: later, and from the start.
enum class ApplyResult { done, known, again };

class DecisionExecutor {
 public:
  struct Parts {
    kube::Api& api;
    const Clock& clock;
    const Log& log;
    kube::Election& election;
    std::string instance;  // our pod's name
  };
  explicit DecisionExecutor(Parts parts) : parts_(std::move(parts)) {}

  // In order, up to the first that has to be tried again.
  ApplyResult execute(const std::vector<Decision>& decisions) const;

 private:
  ApplyResult send(const kube::Event& event) const;
  ApplyResult send(const PatchCronJob& patch) const;

  const Parts parts_;
};

}  // namespace cronlatch::op
