// SPDX-License-Identifier: Apache-2.0
// Reconciler: what it does for one CronJob, one Job and one pod. A finished pod has three steps:
// its Events are created, the checkpoint in the Lease contains it, it is counted. If the leader
// fails in between, the next one creates the Events again (409) and counts.
#include <algorithm>
#include <iterator>
#include <utility>

#include "operator/reconcile/reconciler.h"

namespace cronlatch::op {

using kube::string_at;

void Reconciler::reconcile_cronjob(Item item) {
  CronJobVerdict verdict = decide_cronjob(item.object, deps_.settings);
  const kube::ObjectKey key = kube::key_of(item.object);
  cronjob_states_.set(key, verdict.state);
  deps_.exporter.cronjob_exists(key);
  demands_.erase(key);
  if (verdict.demand) demands_.emplace(key, *verdict.demand);
  if (verdict.gated) {
    GatedCronJob facts = *verdict.gated;
    const EnforcementTimes& enforcement = reported_.enforcement();
    facts.gated = std::max(facts.gated, enforcement.gating);
    if (verdict.demand && verdict.demand->selected)
      facts.gated = std::max(facts.gated, enforcement.select);
    // A CronJob of the first list may have requested its lock for long.
    deps_.exporter.set_cronjob(key, facts, cronjobs_listed_ ? Gated::now : Gated::before);
    if (reported_.cronjob_exists(key.namespace_name + "/" + key.name)) checkpoint_changed_ = true;
    deps_.metrics.count(kUngatedJobs, {{"namespace", key.namespace_name}}, 0);
  } else if (verdict.state != CronJobState::invalid) {  // existing Jobs may still run
    remember_former(key, deps_.exporter.ungate_cronjob(key));
  }
  if (verdict.decisions.empty()) return;
  submit(
      std::move(item),
      [this, decisions = std::move(verdict.decisions)](Item&) {
        return decision_executor_.execute(decisions);
      },
      [](Item&, ApplyResult) {});
}

void Reconciler::reconcile_job(Item item) {
  const bool is_finished = item.object.is_null();
  if (is_finished || reported_jobs_.contains(item.uid)) return;
  // The annotations of its CronJob may not be known yet.
  if (!item.cronjob.name.empty() && !cronjobs_listed_) return schedule_retry(std::move(item));
  if (item.is_incomplete) return complete_job(std::move(item));
  auto decisions =
      decide_job(item.object, demand_on(item.cronjob), deps_.settings, reported_.enforcement());
  if (decisions.empty()) return;
  submit(
      std::move(item), [this, decisions](Item&) { return decision_executor_.execute(decisions); },
      [this, decisions](Item& job, ApplyResult result) {
        for (const Decision& decision : decisions)
          if (const auto* count = std::get_if<CountUngatedJob>(&decision)) {
            reported_jobs_.insert(job.uid);
            // The previous leader recorded and counted it.
            if (result == ApplyResult::done)
              deps_.metrics.count(kUngatedJobs, {{"namespace", count->namespace_name}});
          }
      });
}

void Reconciler::complete_job(Item item) {
  submit(
      std::move(item),
      [this](Item& job) {
        auto found = read_job(kube::key_of(job.object), job.uid);
        if (!found) return ApplyResult::retry;
        job.object = std::move(*found);
        job.is_incomplete = false;
        return ApplyResult::done;
      },
      [this](Item& job, ApplyResult) { reconcile_job(std::move(job)); });
}

const LockDemand* Reconciler::demand_on(const kube::ObjectRef& job_owner) const {
  const auto demand = demands_.find({job_owner.namespace_name, job_owner.name});
  // A CronJob that was created again with the same name does not own the Job.
  return demand == demands_.end() || demand->second.cronjob_uid != job_owner.uid ? nullptr
                                                                                 : &demand->second;
}

// Nothing: the API server did not answer. null: there is no such Job. One that was created again
// with the same name has another UID.
std::optional<kube::Json> Reconciler::read_job(const kube::ObjectKey& key,
                                               const std::string& uid) const {
  auto answer = deps_.api.call(
      {.path = "/apis/batch/v1/namespaces/" + key.namespace_name + "/jobs/" + key.name});
  if (!answer || answer->status >= 500 || answer->status == 429) return std::nullopt;
  if (!answer->ok() || string_at(answer->body, {"metadata", "uid"}) != uid) return kube::Json();
  return std::move(answer->body);
}

// Nothing: the API server did not answer.
std::optional<kube::ObjectRef> Reconciler::cronjob_of(const kube::ObjectRef& job) const {
  const auto found = read_job({job.namespace_name, job.name}, job.uid);
  if (!found) return std::nullopt;
  return kube::owner_of(*found, "CronJob");
}

void Reconciler::reconcile_pod(Item item) {
  const FinishedPod& pod = item.pod->pod;
  if (reported_.has(pod.version)) return;
  reported_.begin(pod.version);
  const kube::ObjectRef& job = pod.run.job;
  const kube::ObjectRef* const known = job_owners_.find(job.uid);
  std::optional<kube::ObjectRef> cronjob;
  if (job.name.empty())
    cronjob.emplace();
  else if (known != nullptr)
    cronjob = *known;
  submit(
      std::move(item),
      [this, cronjob = std::move(cronjob)](Item& reported) {
        return report(*reported.pod, cronjob);
      },
      [this](Item& reported, ApplyResult) {
        reported_.add(reported.pod->pod.version);
        std::move(reported.pod->counts.begin(), reported.pod->counts.end(),
                  std::back_inserter(recorded_));
      });
}

ApplyResult Reconciler::report(PodReport& report,
                               const std::optional<kube::ObjectRef>& known_cronjob) const {
  const GatedRun& run = report.pod.run;
  const auto cronjob = known_cronjob ? known_cronjob : cronjob_of(run.job);
  if (!cronjob) return ApplyResult::retry;
  const auto decisions = decide_run(run, *cronjob);
  report.counts.clear();
  for (const Decision& decision : decisions)
    if (const auto* count = std::get_if<CountRunError>(&decision)) report.counts.push_back(*count);
  return decision_executor_.execute(decisions);
}

void Reconciler::remember_former(const kube::ObjectKey& key, bool was_gated) {
  if (was_gated && reported_.cronjob_deleted(key.namespace_name + "/" + key.name))
    checkpoint_changed_ = true;
}

}  // namespace cronlatch::op
