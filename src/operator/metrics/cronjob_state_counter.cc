// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/cronjob_state_counter.h"

namespace cronlatch::op {

void CronJobStateCounter::remove(const kube::ObjectKey& key) {
  const auto known = cronjobs_.find(key);
  if (known == cronjobs_.end()) return;
  --counts_[known->second];
  cronjobs_.erase(known);
}

void CronJobStateCounter::set(const kube::ObjectKey& key, CronJobState state) {
  remove(key);
  if (state == CronJobState::ungated) return;
  cronjobs_.emplace(key, state);
  ++counts_[state];
}

int CronJobStateCounter::count(CronJobState state) const {
  const auto found = counts_.find(state);
  return found == counts_.end() ? 0 : found->second;
}

void CronJobStateCounter::clear() {
  cronjobs_.clear();
  counts_.clear();
}

void CronJobStateCounter::export_to(Metrics& metrics) const {
  const auto set_gauge = [&](const char* name, CronJobState state) {
    metrics.set(kGatedCronJobs, {{"state", name}}, count(state));
  };
  set_gauge("gated", CronJobState::gated);
  set_gauge("pending", CronJobState::pending);
  set_gauge("invalid", CronJobState::invalid);
}

}  // namespace cronlatch::op
