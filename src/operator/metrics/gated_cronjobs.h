// SPDX-License-Identifier: Apache-2.0
// GatedCronJobs: the CronJobs of this cluster that request a lock, and the metrics that follow from
// their objects: the time of creation, and how long after a success each is overdue. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/lock_stats.h"
#include "operator/metrics/gated_cronjob.h"
#include "operator/metrics/success_deadline.h"

namespace cronlatch::op {

// Whether a CronJob that is not known yet began to request a lock just now.
enum class Gated { before, now };

class GatedCronJobs {
 public:
  explicit GatedCronJobs(ZoneSource zones) : zones_(std::move(zones)) {}

  // `job`: "namespace/name". A deadline whose schedule changes counts from `now`, and so does one
  // that begins with Gated::now.
  void set(const std::string& job, GatedCronJob facts, Gated since, WallTime now);
  bool remove(const std::string& job);  // false: not known
  void clear() { known_.clear(); }

  bool contains(const std::string& job) const { return known_.contains(job); }
  // Its key in this object, if it requests that lock; nullptr otherwise.
  const std::string* find(const std::string& job, const std::string& lock) const;
  std::string lock_of(const std::string& job) const;  // "" if the CronJob is not known
  void each(const std::function<void(const std::string& job, const std::string& lock)>& take) const;

  // The counters of each job in the lock statistics; a job without any is missing.
  using CountersByJob = std::map<std::string_view, const Counters*>;
  void append_text(std::string& out, const CountersByJob& counters);

 private:
  struct Known {
    GatedCronJob facts;
    WallTime from;  // the first time that the deadline counts
    SuccessDeadline deadline;
  };
  Zones zones_;
  std::map<std::string, Known> known_;
};

}  // namespace cronlatch::op
