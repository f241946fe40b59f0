// SPDX-License-Identifier: Apache-2.0
// A finished pod goes through: its Events are in the API, its UID is in the Lease's note, it is
// counted. A leader that dies on the way has told it, and the next tells it again (409) and counts.
#include "operator/reconcile/reconciler.h"

#include <algorithm>

#include "admission/job_view.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using kube::string_at;

constexpr Millis kFirstRetry{1'000};
constexpr Millis kLongestRetry{60'000};
constexpr std::size_t kMostRetries = 2'000;

std::string retry_key(const Seen& seen) {
  const kube::ObjectKey key = kube::key_of(seen.object);
  return std::to_string(static_cast<int>(seen.sort)) + "/" + key.namespace_name + "/" + key.name;
}

}  // namespace

Reconciler::Reconciler(Parts parts)
    : parts_(std::move(parts)),
      decision_executor_({parts_.api, parts_.clock, parts_.log, parts_.election, parts_.instance}) {
}

void Reconciler::begin_term() {
  end_term();
  counted_ = ReportedPods(parts_.election.saved_note());
  unwritten_ = counted_.in_force().enforce(parts_.settings, parts_.clock.wall());
  parts_.exporter.remember_gone(counted_.gone());
}

void Reconciler::end_term() {
  cronjob_states_.clear();
  cronjob_states_.show(parts_.metrics);
  parts_.exporter.forget_cronjobs();
  under_way_.clear();
  told_.clear();
  noted_.clear();
  pending_note_.clear();
  pods_listed_ = false;
  cronjobs_listed_ = false;
  demands_.clear();
  unwritten_ = false;
  retries_.clear();
}

void Reconciler::take(const Seen& seen) {
  switch (seen.what) {
    case Seen::What::object:
      retries_.erase(retry_key(seen));
      if (reconcile(seen) == ApplyResult::again) later(seen, kFirstRetry);
      return;
    case Seen::What::gone:
      if (seen.sort == Sort::cronjob) {
        cronjob_states_.gone(seen.key);
        demands_.erase(seen.key);
        cronjob_gone(seen.key);
      }
      if (seen.sort == Sort::pod) counted_.forget(seen.uid);
      if (seen.sort == Sort::job) ungated_.erase(seen.uid);
      break;
    case Seen::What::all_listed:
      if (seen.sort == Sort::pod) pods_listed_ = true;
      if (seen.sort == Sort::cronjob) cronjobs_listed_ = true;
      break;
  }
}

void Reconciler::later(const Seen& seen, Millis wait) {
  if (retries_.size() >= kMostRetries) return;  // the next list brings it again
  retries_[retry_key(seen)] = {seen, parts_.clock.now() + wait, wait};
}

void Reconciler::tick() {
  std::vector<Retry> due;
  for (auto at = retries_.begin(); at != retries_.end();)
    if (at->second.at <= parts_.clock.now()) {
      due.push_back(std::move(at->second));
      at = retries_.erase(at);
    } else {
      ++at;
    }
  for (const Retry& retry : due)
    if (reconcile(retry.seen) == ApplyResult::again)
      later(retry.seen, std::min(retry.wait * 2, kLongestRetry));
  count_saved();
  save_note();
  cronjob_states_.show(parts_.metrics);
}

ApplyResult Reconciler::reconcile(const Seen& seen) {
  switch (seen.sort) {
    case Sort::cronjob:
      return cronjob(seen.object);
    case Sort::job:
      return job(seen.object);
    case Sort::pod:
      return pod(seen.object);
  }
  return ApplyResult::done;
}

ApplyResult Reconciler::cronjob(const Json& object) {
  const CronJobVerdict verdict = decide_cronjob(object, parts_.settings);
  const kube::ObjectKey key = kube::key_of(object);
  cronjob_states_.cronjob(key, verdict.state);
  demands_.erase(key);
  if (verdict.demand) demands_.emplace(key, *verdict.demand);
  if (verdict.gated) {
    parts_.exporter.cronjob(key, *verdict.gated);
    if (counted_.cronjob_there(key.namespace_name + "/" + key.name)) unwritten_ = true;
    parts_.metrics.count(kUngatedJobs, {{"namespace", key.namespace_name}}, 0);
  } else if (verdict.state != CronJobState::invalid) {  // then its old Jobs may go on as they were
    cronjob_gone(key);
  }
  return decision_executor_.execute(verdict.decisions);
}

ApplyResult Reconciler::job(const Json& object) {
  const std::string uid = string_at(object, {"metadata", "uid"});
  if (ungated_.contains(uid) || is_over(object)) return ApplyResult::done;
  const kube::ObjectRef owner = kube::owner_of(object, "CronJob");
  // What its CronJob asks for may not be known yet.
  if (!owner.name.empty() && !cronjobs_listed_) return ApplyResult::again;
  const auto decisions = decide_job(object, demand_on(owner), parts_.settings, counted_.in_force());
  const ApplyResult result = decision_executor_.execute(decisions);
  if (result == ApplyResult::again) return result;
  for (const Decision& decision : decisions)
    if (const auto* count = std::get_if<CountUngated>(&decision)) {
      ungated_.insert(uid);
      // What the last leader told, it counted.
      if (result == ApplyResult::done)
        parts_.metrics.count(kUngatedJobs, {{"namespace", count->namespace_name}});
    }
  return result;
}

const LockDemand* Reconciler::demand_on(const kube::ObjectRef& job_owner) const {
  const auto demand = demands_.find({job_owner.namespace_name, job_owner.name});
  // Another CronJob of the same name is not the one that owns the Job.
  return demand == demands_.end() || demand->second.cronjob_uid != job_owner.uid ? nullptr
                                                                                 : &demand->second;
}

kube::ObjectRef Reconciler::cronjob_of(const kube::ObjectRef& job, bool& unknown) {
  if (job.name.empty()) return {};
  const auto answer = parts_.api.call(
      {.path = "/apis/batch/v1/namespaces/" + job.namespace_name + "/jobs/" + job.name});
  unknown = !answer || answer->status >= 500;
  // Another Job of the same name is not the one that this pod belongs to.
  if (!answer || !answer->ok() || string_at(answer->body, {"metadata", "uid"}) != job.uid)
    return {};
  return kube::owner_of(answer->body, "CronJob");
}

ApplyResult Reconciler::pod(const Json& object) {
  const auto run = read_gated_run(object);
  if (!run || under_way_.contains(run->pod.uid) || counted_.has(run->pod.uid, run->finished))
    return ApplyResult::done;
  bool unknown = false;
  const kube::ObjectRef cronjob = cronjob_of(run->job, unknown);
  if (unknown) return ApplyResult::again;
  const auto decisions = decide_run(*run, cronjob);
  if (decision_executor_.execute(decisions) == ApplyResult::again) return ApplyResult::again;
  under_way_.insert(run->pod.uid);
  Finished finished{*run, {}};
  for (const Decision& decision : decisions)
    if (const auto* count = std::get_if<CountRunError>(&decision))
      finished.counts.push_back(*count);
  told_.push_back(std::move(finished));
  return ApplyResult::done;
}

void Reconciler::cronjob_gone(const kube::ObjectKey& key) {
  if (parts_.exporter.gone(key) && counted_.cronjob_gone(key.namespace_name + "/" + key.name))
    unwritten_ = true;
}

void Reconciler::save_note() {
  if (!pods_listed_ || (told_.empty() && !unwritten_) || !noted_.empty()) return;
  std::sort(told_.begin(), told_.end(),
            [](const Finished& a, const Finished& b) { return a.run.finished < b.run.finished; });
  for (const Finished& finished : told_) counted_.add(finished.run.pod.uid, finished.run.finished);
  noted_ = std::move(told_);
  told_.clear();
  unwritten_ = false;
  pending_note_ = counted_.note();
  parts_.election.write_note(pending_note_);
}

void Reconciler::count_saved() {
  if (noted_.empty() || parts_.election.saved_note() != pending_note_) return;
  for (const Finished& finished : noted_) {
    under_way_.erase(finished.run.pod.uid);
    for (const CountRunError& count : finished.counts)
      parts_.exporter.run_error(count.namespace_name, count.cronjob, count.reason);
  }
  noted_.clear();
}

}  // namespace cronlatch::op
