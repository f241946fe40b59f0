// SPDX-License-Identifier: Apache-2.0
// ReportedPods: what the next leader must know, as the note that the leader keeps in its Lease:
// which finished pods have been told and counted, which gated CronJobs went lately, and since when
// Jobs have to be gated. Pure. It names the newest ones and a moment before which everything counts
// as counted, so it stays small; a pod that is reported later than 200 others that finished after
// it is missed.
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
  static constexpr std::size_t kMost = 200;
  static constexpr std::size_t kMostGone =
      100;  // the note stays below 64 KiB with the longest names

  ReportedPods() = default;
  // From a note; one that cannot be read is an empty one.
  explicit ReportedPods(std::string_view note);

  bool has(const std::string& uid, WallTime finished) const;
  void add(const std::string& uid, WallTime finished);
  // The pod is deleted: nobody can report it again.
  void forget(const std::string& uid);
  // "namespace/name" of a CronJob that is gone, or there again; false when that was known.
  bool cronjob_gone(const std::string& job);
  bool cronjob_there(const std::string& job);
  const std::vector<std::string>& gone() const { return gone_; }
  InForce& in_force() { return in_force_; }
  std::string note() const;

 private:
  std::int64_t before_ = 0;                   // seconds since 1970
  std::map<std::string, std::int64_t> pods_;  // shortened UID to the second it finished
  std::vector<std::string> gone_;             // the newest last
  InForce in_force_;
};

}  // namespace cronlatch::op
