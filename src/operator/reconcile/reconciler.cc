// SPDX-License-Identifier: Apache-2.0
// Terms, the order of requests, retries and the checkpoint. reconcile_object.cc has the objects.
#include "operator/reconcile/reconciler.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace cronlatch::op {
namespace {

constexpr Millis kFirstRetry{1'000};
constexpr Millis kMaxRetry{60'000};

std::string item_key(ObjectKind kind, const kube::ObjectKey& key) {
  return std::to_string(static_cast<int>(kind)) + "/" + key.namespace_name + "/" + key.name;
}

}  // namespace

Reconciler::Reconciler(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      decision_executor_({deps_.api, deps_.log, deps_.election, deps_.events}) {}

void Reconciler::begin_term() {
  end_term();
  decision_executor_.resume();
  reported_ = ReportedPods(deps_.election.saved_checkpoint());
  checkpoint_changed_ = reported_.enforcement().update(deps_.settings, deps_.clock.wall());
  deps_.exporter.remember_deleted(reported_.deleted_cronjobs());
}

void Reconciler::end_term() {
  decision_executor_.abandon();
  deps_.workers.clear();
  results_.take();
  count_checkpointed();
  deps_.election.withdraw_checkpoint();
  cronjob_states_.clear();
  cronjob_states_.export_to(deps_.metrics);
  deps_.exporter.forget_cronjobs();
  reported_ = {};
  job_owners_.clear();
  recorded_.clear();
  in_checkpoint_.clear();
  pending_checkpoint_.clear();
  pods_listed_ = false;
  cronjobs_listed_ = false;
  demands_.clear();
  checkpoint_changed_ = false;
  retries_.clear();
  waiting_pods_ = 0;
  busy_.clear();
}

void Reconciler::process(ObjectChange change) {
  process_results();
  switch (change.type) {
    case ObjectChange::Type::updated:
      updated(std::move(change));
      return;
    case ObjectChange::Type::deleted:
      deleted(change);
      return;
    case ObjectChange::Type::listing:
      reported_.listing(change.watched, version_number(change.version));
      return;
    case ObjectChange::Type::position:
      reported_.reached(change.watched, version_number(change.version));
      return;
    case ObjectChange::Type::all_listed:
      if (change.kind == ObjectKind::pod) pods_listed_ = true;
      if (change.kind == ObjectKind::cronjob) cronjobs_listed_ = true;
      return;
  }
}

void Reconciler::updated(ObjectChange change) {
  if (change.kind == ObjectKind::job) job_owners_.set(change.uid, change.cronjob);
  Item item{.kind = change.kind,
            .key = item_key(change.kind, change.key),
            .uid = std::move(change.uid),
            .object = std::move(change.object),
            .cronjob = std::move(change.cronjob),
            .wait = kFirstRetry};
  if (change.pod) item.pod = PodReport{std::move(*change.pod)};
  if (const auto waiting = retries_.find(item.key); waiting != retries_.end()) {
    if (item.pod) --waiting_pods_;
    retries_.erase(waiting);
  }
  handle(std::move(item));
}

void Reconciler::deleted(const ObjectChange& change) {
  switch (change.kind) {
    case ObjectKind::cronjob:
      cancel_retry(item_key(change.kind, change.key));
      cronjob_states_.remove(change.key);
      demands_.erase(change.key);
      remember_former(change.key, deps_.exporter.remove_cronjob(change.key));
      return;
    case ObjectKind::pod:
      reported_.forget(change.uid);
      return;
    case ObjectKind::job:
      reported_jobs_.erase(change.uid);
      job_owners_.erase(change.uid);
      return;
  }
}

void Reconciler::handle(Item item) {
  if (const auto busy = busy_.find(item.key); busy != busy_.end()) {
    busy->second.newer = std::move(item);
    return;
  }
  switch (item.kind) {
    case ObjectKind::cronjob:
      return reconcile_cronjob(std::move(item));
    case ObjectKind::job:
      return reconcile_job(std::move(item));
    case ObjectKind::pod:
      return reconcile_pod(std::move(item));
  }
}

void Reconciler::submit(Item item, Work work, Done done) {
  busy_.try_emplace(item.key);
  const auto shared = std::make_shared<Item>(std::move(item));
  deps_.workers.submit([this, shared, work = std::move(work), done = std::move(done)] {
    const ApplyResult result = work(*shared);
    results_.put([this, shared, result, done] { finish(*shared, result, done); });
  });
  process_results();
}

void Reconciler::process_results() {
  for (const Results::Result& result : results_.take()) result();
}

void Reconciler::finish(Item& item, ApplyResult result, const Done& done) {
  auto busy = busy_.extract(item.key);
  std::optional<Item> newer = std::move(busy.mapped().newer);
  if (result != ApplyResult::retry)
    done(item, result);
  else if (!newer && !busy.mapped().is_deleted)
    schedule_retry(std::move(item));
  if (newer) handle(std::move(*newer));
}

void Reconciler::schedule_retry(Item item) {
  // The next list reports a CronJob again. has_room() limits the pods. Jobs that wait for the first
  // list of the CronJobs can be many, and a watch does not report them again.
  if (!item.pod && retries_.size() - waiting_pods_ >= kMaxRetries) {
    if (item.kind != ObjectKind::job) return;
    const kube::ObjectKey key = kube::key_of(item.object);
    item.object = {{"metadata", {{"namespace", key.namespace_name}, {"name", key.name}}}};
    item.is_incomplete = true;
  }
  if (item.pod) ++waiting_pods_;
  const TimePoint at = deps_.clock.now() + item.wait;
  item.wait = std::min(item.wait * 2, kMaxRetry);
  std::string key = item.key;
  retries_.insert_or_assign(std::move(key), Retry{std::move(item), at});
}

// Of a CronJob that was deleted: a retry would export it again, and its patch would never succeed.
// Events of deleted Jobs and pods are still recorded, because they are counted.
void Reconciler::cancel_retry(const std::string& item) {
  retries_.erase(item);
  if (const auto busy = busy_.find(item); busy != busy_.end())
    busy->second = {.newer = std::nullopt, .is_deleted = true};
}

void Reconciler::retry_due() {
  std::vector<Item> due;
  for (auto at = retries_.begin(); at != retries_.end();)
    if (at->second.at <= deps_.clock.now()) {
      if (at->second.item.pod) --waiting_pods_;
      due.push_back(std::move(at->second.item));
      at = retries_.erase(at);
    } else {
      ++at;
    }
  for (Item& item : due) handle(std::move(item));
}

void Reconciler::tick() {
  process_results();
  retry_due();
  count_checkpointed();
  save_checkpoint();
  cronjob_states_.export_to(deps_.metrics);
}

void Reconciler::save_checkpoint() {
  // An error is counted after its checkpoint, for a CronJob that exists and with its lock.
  if (!pods_listed_ || !cronjobs_listed_) return;
  if (!(reported_.changed() || checkpoint_changed_) || !in_checkpoint_.empty()) return;
  auto checkpoint = reported_.checkpoint();
  if (!checkpoint) return;
  in_checkpoint_ = std::exchange(recorded_, {});
  checkpoint_changed_ = false;
  pending_checkpoint_ = std::move(*checkpoint);
  deps_.election.set_checkpoint(pending_checkpoint_);
}

void Reconciler::count_checkpointed() {
  if (in_checkpoint_.empty() || deps_.election.saved_checkpoint() != pending_checkpoint_) return;
  for (const CountRunError& count : in_checkpoint_)
    deps_.exporter.count_run_error(count.namespace_name, count.cronjob, count.reason);
  in_checkpoint_.clear();
}

}  // namespace cronlatch::op
