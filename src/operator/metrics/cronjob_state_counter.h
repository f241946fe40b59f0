// SPDX-License-Identifier: Apache-2.0
// Tally: what the leader counts, as plain numbers. metrics.h shows them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "kube/watcher.h"
#include "operator/metrics/cronjob_state.h"
#include "operator/metrics/metrics.h"

namespace cronlatch::op {

inline constexpr MetricName kGatedCronJobs{"cronlatch_gated_cronjobs"};
inline constexpr MetricName kUngatedJobs{"cronlatch_ungated_jobs_total"};

class CronJobStateCounter {
 public:
  void cronjob(const kube::ObjectKey& key, CronJobState state);
  void gone(const kube::ObjectKey& key);
  int cronjobs_in(CronJobState state) const;
  void clear();
  void show(Metrics& metrics) const;

 private:
  std::map<kube::ObjectKey, CronJobState> cronjobs_;  // without those that ask for nothing
  std::map<CronJobState, int> count_;
};

}  // namespace cronlatch::op
