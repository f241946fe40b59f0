// SPDX-License-Identifier: Apache-2.0
// A finished pod has three steps: its Events are created, its UID is in the checkpoint in the
// Lease, it is counted. If the leader fails in between, the next one creates the Events again (409)
// and counts.
#include "operator/reconcile/reconciler.h"

#include <algorithm>

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

constexpr Millis kFirstRetry{1'000};
constexpr Millis kMaxRetry{60'000};
constexpr std::size_t kMaxRetries = 2'000;

std::string retry_key(const ObjectChange& change) {
  const kube::ObjectKey key = kube::key_of(change.object);
  return std::to_string(static_cast<int>(change.kind)) + "/" + key.namespace_name + "/" + key.name;
}

}  // namespace

Reconciler::Reconciler(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      decision_executor_({deps_.api, deps_.clock, deps_.log, deps_.election, deps_.instance}) {}

void Reconciler::begin_term() {
  end_term();
  reported_ = ReportedPods(deps_.election.saved_checkpoint());
  checkpoint_changed_ = reported_.enforcement().update(deps_.settings, deps_.clock.wall());
  deps_.exporter.remember_deleted(reported_.deleted_cronjobs());
}

void Reconciler::end_term() {
  cronjob_states_.clear();
  cronjob_states_.export_to(deps_.metrics);
  deps_.exporter.forget_cronjobs();
  in_progress_.clear();
  recorded_.clear();
  in_checkpoint_.clear();
  pending_checkpoint_.clear();
  pods_listed_ = false;
  cronjobs_listed_ = false;
  demands_.clear();
  checkpoint_changed_ = false;
  retries_.clear();
}

void Reconciler::process(const ObjectChange& change) {
  switch (change.type) {
    case ObjectChange::Type::updated:
      retries_.erase(retry_key(change));
      if (reconcile(change) == ApplyResult::retry) schedule_retry(change, kFirstRetry);
      return;
    case ObjectChange::Type::deleted:
      if (change.kind == ObjectKind::cronjob) {
        cronjob_states_.remove(change.key);
        demands_.erase(change.key);
        cronjob_deleted(change.key);
      }
      if (change.kind == ObjectKind::pod) reported_.forget(change.uid);
      if (change.kind == ObjectKind::job) reported_jobs_.erase(change.uid);
      break;
    case ObjectChange::Type::all_listed:
      if (change.kind == ObjectKind::pod) pods_listed_ = true;
      if (change.kind == ObjectKind::cronjob) cronjobs_listed_ = true;
      break;
  }
}

void Reconciler::schedule_retry(const ObjectChange& change, Millis wait) {
  if (retries_.size() >= kMaxRetries) return;  // the next list reports it again
  retries_[retry_key(change)] = {change, deps_.clock.now() + wait, wait};
}

void Reconciler::tick() {
  std::vector<Retry> due;
  for (auto at = retries_.begin(); at != retries_.end();)
    if (at->second.at <= deps_.clock.now()) {
      due.push_back(std::move(at->second));
      at = retries_.erase(at);
    } else {
      ++at;
    }
  for (const Retry& retry : due)
    if (reconcile(retry.change) == ApplyResult::retry)
      schedule_retry(retry.change, std::min(retry.wait * 2, kMaxRetry));
  count_checkpointed();
  save_checkpoint();
  cronjob_states_.export_to(deps_.metrics);
}

ApplyResult Reconciler::reconcile(const ObjectChange& change) {
  switch (change.kind) {
    case ObjectKind::cronjob:
      return reconcile_cronjob(change.object);
    case ObjectKind::job:
      return reconcile_job(change.object);
    case ObjectKind::pod:
      return reconcile_pod(change.object);
  }
  return ApplyResult::done;
}

ApplyResult Reconciler::reconcile_cronjob(const Json& object) {
  const CronJobVerdict verdict = decide_cronjob(object, deps_.settings);
  const kube::ObjectKey key = kube::key_of(object);
  cronjob_states_.set(key, verdict.state);
  demands_.erase(key);
  if (verdict.demand) demands_.emplace(key, *verdict.demand);
  if (verdict.gated) {
    deps_.exporter.set_cronjob(key, *verdict.gated);
    if (reported_.cronjob_exists(key.namespace_name + "/" + key.name)) checkpoint_changed_ = true;
    deps_.metrics.count(kUngatedJobs, {{"namespace", key.namespace_name}}, 0);
  } else if (verdict.state != CronJobState::invalid) {  // existing Jobs may still run
    cronjob_deleted(key);
  }
  return decision_executor_.execute(verdict.decisions);
}

ApplyResult Reconciler::reconcile_job(const Json& object) {
  const std::string uid = string_at(object, {"metadata", "uid"});
  if (reported_jobs_.contains(uid) || has_finished(object)) return ApplyResult::done;
  const kube::ObjectRef owner = kube::owner_of(object, "CronJob");
  // The annotations of its CronJob may not be known yet.
  if (!owner.name.empty() && !cronjobs_listed_) return ApplyResult::retry;
  const auto decisions =
      decide_job(object, demand_on(owner), deps_.settings, reported_.enforcement());
  const ApplyResult result = decision_executor_.execute(decisions);
  if (result == ApplyResult::retry) return result;
  for (const Decision& decision : decisions)
    if (const auto* count = std::get_if<CountUngatedJob>(&decision)) {
      reported_jobs_.insert(uid);
      // The previous leader recorded and counted it.
      if (result == ApplyResult::done)
        deps_.metrics.count(kUngatedJobs, {{"namespace", count->namespace_name}});
    }
  return result;
}

const LockDemand* Reconciler::demand_on(const kube::ObjectRef& job_owner) const {
  const auto demand = demands_.find({job_owner.namespace_name, job_owner.name});
  // A CronJob that was created again with the same name does not own the Job.
  return demand == demands_.end() || demand->second.cronjob_uid != job_owner.uid ? nullptr
                                                                                 : &demand->second;
}

kube::ObjectRef Reconciler::cronjob_of(const kube::ObjectRef& job, bool& unknown) {
  if (job.name.empty()) return {};
  const auto answer = deps_.api.call(
      {.path = "/apis/batch/v1/namespaces/" + job.namespace_name + "/jobs/" + job.name});
  unknown = !answer || answer->status >= 500;
  // A Job that was created again with the same name does not own the pod.
  if (!answer || !answer->ok() || string_at(answer->body, {"metadata", "uid"}) != job.uid)
    return {};
  return kube::owner_of(answer->body, "CronJob");
}

ApplyResult Reconciler::reconcile_pod(const Json& object) {
  const auto run = read_gated_run(object);
  if (!run || in_progress_.contains(run->pod.uid) || reported_.has(run->pod.uid, run->finished))
    return ApplyResult::done;
  bool unknown = false;
  const kube::ObjectRef cronjob = cronjob_of(run->job, unknown);
  if (unknown) return ApplyResult::retry;
  const auto decisions = decide_run(*run, cronjob);
  if (decision_executor_.execute(decisions) == ApplyResult::retry) return ApplyResult::retry;
  in_progress_.insert(run->pod.uid);
  Finished finished{*run, {}};
  for (const Decision& decision : decisions)
    if (const auto* count = std::get_if<CountRunError>(&decision))
      finished.counts.push_back(*count);
  recorded_.push_back(std::move(finished));
  return ApplyResult::done;
}

void Reconciler::cronjob_deleted(const kube::ObjectKey& key) {
  if (deps_.exporter.remove_cronjob(key) &&
      reported_.cronjob_deleted(key.namespace_name + "/" + key.name))
    checkpoint_changed_ = true;
}

void Reconciler::save_checkpoint() {
  if (!pods_listed_ || (recorded_.empty() && !checkpoint_changed_) || !in_checkpoint_.empty())
    return;
  std::sort(recorded_.begin(), recorded_.end(),
            [](const Finished& a, const Finished& b) { return a.run.finished < b.run.finished; });
  for (const Finished& finished : recorded_)
    reported_.add(finished.run.pod.uid, finished.run.finished);
  in_checkpoint_ = std::move(recorded_);
  recorded_.clear();
  checkpoint_changed_ = false;
  pending_checkpoint_ = reported_.checkpoint();
  deps_.election.set_checkpoint(pending_checkpoint_);
}

void Reconciler::count_checkpointed() {
  if (in_checkpoint_.empty() || deps_.election.saved_checkpoint() != pending_checkpoint_) return;
  for (const Finished& finished : in_checkpoint_) {
    in_progress_.erase(finished.run.pod.uid);
    for (const CountRunError& count : finished.counts)
      deps_.exporter.count_run_error(count.namespace_name, count.cronjob, count.reason);
  }
  in_checkpoint_.clear();
}

}  // namespace cronlatch::op
