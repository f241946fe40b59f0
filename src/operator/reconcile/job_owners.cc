// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/job_owners.h"

#include <functional>
#include <utility>

namespace cronlatch::op {
namespace {

std::size_t key_of(std::string_view uid) { return std::hash<std::string_view>()(uid); }

}  // namespace

void JobOwners::set(std::string_view job_uid, kube::ObjectRef cronjob) {
  const auto [job, is_new] = jobs_.try_emplace(key_of(job_uid), nullptr);
  if (!is_new) return;  // the controlling owner of a Job does not change
  std::unique_ptr<Owner>& owner = cronjobs_[cronjob.uid];
  if (owner == nullptr) owner = std::make_unique<Owner>(Owner{std::move(cronjob)});
  ++owner->jobs;
  job->second = owner.get();
}

void JobOwners::erase(std::string_view job_uid) {
  const auto job = jobs_.find(key_of(job_uid));
  if (job == jobs_.end()) return;
  if (--job->second->jobs == 0) cronjobs_.erase(std::string(job->second->cronjob.uid));
  jobs_.erase(job);
}

void JobOwners::clear() {
  jobs_.clear();
  cronjobs_.clear();
}

const kube::ObjectRef* JobOwners::find(std::string_view job_uid) const {
  const auto job = jobs_.find(key_of(job_uid));
  return job == jobs_.end() ? nullptr : &job->second->cronjob;
}

}  // namespace cronlatch::op
