// SPDX-License-Identifier: Apache-2.0
// Kept by object, so that a change of state moves a number and a deletion takes it away.
#include "operator/metrics/cronjob_state_counter.h"

namespace cronlatch::op {

void CronJobStateCounter::gone(const kube::ObjectKey& key) {
  const auto known = cronjobs_.find(key);
  if (known == cronjobs_.end()) return;
  --count_[known->second];
  cronjobs_.erase(known);
}

void CronJobStateCounter::cronjob(const kube::ObjectKey& key, CronJobState state) {
  gone(key);
  if (state == CronJobState::ungated) return;
  cronjobs_.emplace(key, state);
  ++count_[state];
}

int CronJobStateCounter::cronjobs_in(CronJobState state) const {
  const auto found = count_.find(state);
  return found == count_.end() ? 0 : found->second;
}

void CronJobStateCounter::clear() {
  cronjobs_.clear();
  count_.clear();
}

void CronJobStateCounter::show(Metrics& metrics) const {
  const auto set = [&](const char* name, CronJobState state) {
    metrics.set(kGatedCronJobs, {{"state", name}}, cronjobs_in(state));
  };
  set("gated", CronJobState::gated);
  set("pending", CronJobState::pending);
  set("invalid", CronJobState::invalid);
}

}  // namespace cronlatch::op
