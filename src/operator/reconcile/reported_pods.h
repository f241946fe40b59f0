// SPDX-License-Identifier: Apache-2.0
// ReportedPods: the checkpoint of the leader, which it stores in its Lease for the next leader: the
// finished pods whose Events are recorded and whose errors are counted, recently deleted gated
// CronJobs, and the EnforcementTimes. Pure. It lists the newest pods and a time before which all
// pods are reported, so its size is bounded. A pod is missed if 200 others that finished later were
// reported before it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "operator/reconcile/enforcement_times.h"

namespace cronlatch::op {

class ReportedPods {
 public:
  static constexpr std::size_t kMaxPods = 200;
  static constexpr std::size_t kMaxDeleted =
      100;  // with the longest names the checkpoint is shorter than 64 KiB

  ReportedPods() = default;
  // From a checkpoint; an invalid one is empty.
  explicit ReportedPods(std::string_view checkpoint);

  bool has(const std::string& uid, WallTime finished) const;
  void add(const std::string& uid, WallTime finished);
  // The pod was deleted and cannot be reported again.
  void forget(const std::string& uid);
  // `job` is "namespace/name". False if the state was known.
  bool cronjob_deleted(const std::string& job);
  bool cronjob_exists(const std::string& job);
  const std::vector<std::string>& deleted_cronjobs() const { return deleted_; }
  EnforcementTimes& enforcement() { return enforcement_; }
  std::string checkpoint() const;

 private:
  std::int64_t before_ = 0;  // seconds since 1970
  std::map<std::string, std::int64_t>
      pods_;                          // from the shortened UID to the second at which it finished
  std::vector<std::string> deleted_;  // the newest last
  EnforcementTimes enforcement_;
};

}  // namespace cronlatch::op
