// SPDX-License-Identifier: Apache-2.0
// JobOwners: the CronJobs of all Jobs, from the watch of the Jobs. The report of a pod then needs
// no request for its Job. Memory: about 50 bytes for each Job, and one reference for each CronJob.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kube/object_ref.h"

namespace cronlatch::op {

class JobOwners {
 public:
  // `cronjob` has no name for a Job without a CronJob.
  void set(std::string_view job_uid, kube::ObjectRef cronjob);
  void erase(std::string_view job_uid);
  void clear();
  // nullptr: an unknown Job.
  const kube::ObjectRef* find(std::string_view job_uid) const;
  std::size_t cronjobs() const { return cronjobs_.size(); }

 private:
  struct Owner {
    kube::ObjectRef cronjob;
    std::size_t jobs = 0;
  };
  using Key = std::size_t;  // of a UID

  std::unordered_map<std::string, std::unique_ptr<Owner>> cronjobs_;  // by UID; "" for none
  std::unordered_map<Key, Owner*> jobs_;
};

}  // namespace cronlatch::op
