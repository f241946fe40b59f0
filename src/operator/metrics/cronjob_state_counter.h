// SPDX-License-Identifier: Apache-2.0
// CronJobStateCounter: counts the gated CronJobs by state.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "kube/object_ref.h"
#include "operator/metrics/cronjob_state.h"
#include "operator/metrics/metrics.h"

namespace cronlatch::op {

inline constexpr MetricName kGatedCronJobs{"cronlatch_gated_cronjobs"};
inline constexpr MetricName kUngatedJobs{"cronlatch_ungated_jobs_total"};

class CronJobStateCounter {
 public:
  void set(const kube::ObjectKey& key, CronJobState state);
  void remove(const kube::ObjectKey& key);
  int count(CronJobState state) const;
  void clear();
  void export_to(Metrics& metrics) const;

 private:
  std::map<kube::ObjectKey, CronJobState> cronjobs_;  // without ungated ones
  std::map<CronJobState, int> counts_;
};

}  // namespace cronlatch::op
