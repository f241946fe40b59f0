// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/exporter.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cronlatch::op {
namespace {

constexpr MetricName kResets{"cronlatch_store_resets_total"};
constexpr MetricName kLeftOut{"cronlatch_ledger_left_out"};
constexpr std::string_view kDeadline = "cronlatch_success_deadline_seconds";
constexpr std::string_view kCreated = "cronlatch_cronjob_created_timestamp_seconds";

// CronJobs that went, as far back as we remember: what the store still counts of them is not shown.
constexpr std::size_t kMostGone = 5'000;
// Longer names than Kubernetes has are somebody's play.
constexpr std::size_t kLongestName = 520;

// What ends a run before, or without, the store's knowledge (operator/reconcile/decide.h).
constexpr std::array kErrorReasons = {Reason::unreachable, Reason::auth, Reason::tls,   Reason::acl,
                                      Reason::config,      Reason::exec, Reason::signal};

std::string job_of(const kube::ObjectKey& key) { return key.namespace_name + "/" + key.name; }

// One label that is no UTF-8 would make Prometheus refuse the whole page.
bool can_be_shown(std::string_view name) {
  if (name.size() > kLongestName) return false;
  while (!name.empty()) {
    const std::size_t length = utf8_length(name);
    if (length == 0 || static_cast<unsigned char>(name.front()) < 0x20) return false;
    name.remove_prefix(length);
  }
  return true;
}

// Whose doing it is: the job's namespace, else the first part of the lock's name.
std::string space_of(const std::string& job, const std::string& lock) {
  const std::string& name = job.find('/') == std::string::npos ? lock : job;
  return name.substr(0, name.find('/'));
}

}  // namespace

Exporter::Exporter(std::function<bool()> leading, Metrics& metrics, const Clock& clock,
                   ExporterLimits limits)
    : leading_(std::move(leading)), metrics_(metrics), clock_(clock), limits_(limits) {
  metrics_.count(kResets, {}, 0);
}

void Exporter::lock_stats(LockStatsUpdate news) {
  const std::lock_guard lock(mutex_);
  status_.error = news.error;
  status_.up = news.error.empty();
  if (!status_.up) return;
  status_.copy = marks_.take(std::move(news.locks), clock_.now());
  status_.read = clock_.wall();
  // Every replica sees it; one of them counts.
  if (leading_()) metrics_.count(kResets, {}, static_cast<double>(marks_.resets()));
}

void Exporter::cronjob(const kube::ObjectKey& key, const GatedCronJob& facts) {
  const std::lock_guard lock(mutex_);
  cronjobs_[job_of(key)] = facts;
  std::erase(gone_, job_of(key));
}

void Exporter::add_gone(const std::string& job) {
  if (std::find(gone_.begin(), gone_.end(), job) != gone_.end()) return;
  gone_.push_back(job);
  if (gone_.size() > kMostGone) gone_.pop_front();
}

bool Exporter::gone(const kube::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  const std::string job = job_of(key);
  run_errors_.erase(job);
  if (cronjobs_.erase(job) == 0) return false;
  add_gone(job);
  return true;
}

void Exporter::remember_gone(const std::vector<std::string>& jobs) {
  const std::lock_guard lock(mutex_);
  for (const std::string& job : jobs)
    if (!cronjobs_.contains(job)) add_gone(job);
}

void Exporter::forget_cronjobs() {
  const std::lock_guard lock(mutex_);
  cronjobs_.clear();
  others_.clear();
}

void Exporter::run_error(const std::string& namespace_name, const std::string& cronjob,
                         Reason reason) {
  const std::lock_guard lock(mutex_);
  ++run_errors_[namespace_name + "/" + cronjob][reason];
}

Exporter::Status Exporter::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Exporter::add_others(std::vector<LockStatsRow>& rows, std::vector<LockStatsRow> others) {
  // Those shown before come first: what somebody makes up now must not push them out.
  const auto shown = [&](const LockStatsRow& row) {
    return others_.contains({*row.job, row.view->lock});
  };
  std::stable_partition(others.begin(), others.end(), shown);
  std::set<Pair> now;
  std::map<std::string, std::size_t> of_space;
  for (LockStatsRow& row : others) {
    if (now.size() >= limits_.others) break;
    if (++of_space[space_of(*row.job, row.view->lock)] > limits_.of_one_space) continue;
    now.emplace(*row.job, row.view->lock);
    row.labels = render(SeriesLabels{*row.job, row.view->lock});
    rows.push_back(std::move(row));
  }
  others_ = std::move(now);
}

std::vector<LockStatsRow> Exporter::rows() {
  std::vector<LockStatsRow> ours, others;
  // Before the store was read nobody knows what has been counted: zero would be a lie.
  if (status_.copy == nullptr) return ours;
  const std::set<std::string_view> gone(gone_.begin(), gone_.end());
  std::set<std::string_view> seen;
  std::size_t unshowable = 0;
  const auto take = [&](const LockView& view, const std::string& job, const Counters& counters) {
    const auto known = cronjobs_.find(job);
    if (known != cronjobs_.end() && known->second.lock == view.lock) {
      seen.insert(known->first);
      ours.push_back({render(SeriesLabels{job, view.lock}), &view, &job, &counters});
    } else if (gone.contains(job)) {
      return;
    } else if (can_be_shown(job) && can_be_shown(view.lock)) {
      others.push_back({"", &view, &job, &counters});
    } else {
      ++unshowable;
    }
  };
  const LockStatsCopy& copy = *status_.copy;
  for (const LockView& view : copy.read)
    if (!copy.kept.contains(view.lock)) each_row(view, take);
  for (const auto& [lock, view] : copy.kept) each_row(view, take);
  for (const auto& [job, facts] : cronjobs_)
    if (!seen.contains(job))
      ours.push_back({render(SeriesLabels{job, facts.lock}), &nobody_, &job, &nothing_});
  const std::size_t all = ours.size() + others.size() + unshowable;
  add_others(ours, std::move(others));
  metrics_.set(kLeftOut, {}, static_cast<double>(all - ours.size()));
  return ours;
}

void Exporter::append_run_errors(std::string& out) const {
  RunErrors errors;
  const auto add = [&](const std::string& job, const std::string& lock, Reason reason,
                       std::int64_t count) {
    errors[render(SeriesLabels{job, lock}) + ",reason=\"" + std::string(name_of(reason)) + '"'] =
        count;
  };
  for (const auto& [job, facts] : cronjobs_)
    for (const Reason reason : kErrorReasons) add(job, facts.lock, reason, 0);
  for (const auto& [job, counts] : run_errors_) {
    const auto known = cronjobs_.find(job);
    for (const auto& [reason, count] : counts)
      add(job, known == cronjobs_.end() ? "" : known->second.lock, reason, count);
  }
  out += run_error_metrics(errors);
}

void Exporter::append_cronjobs(std::string& out) const {
  if (cronjobs_.empty()) return;
  append_head(out, kDeadline);
  for (const auto& [job, facts] : cronjobs_)
    if (facts.alert_after.count() > 0)
      append_sample(out, kDeadline, render(SeriesLabels{job, facts.lock}),
                    std::to_string(facts.alert_after.count() / 1'000));
  append_head(out, kCreated);
  for (const auto& [job, facts] : cronjobs_)
    if (facts.created.us > 0)
      append_sample(out, kCreated, render(SeriesLabels{job, facts.lock}),
                    std::to_string(facts.created.us / 1'000'000));
}

void Exporter::append_text(std::string& out) {
  if (!leading_()) {
    metrics_.set(kLeftOut, {}, 0);
    return;
  }
  const std::lock_guard lock(mutex_);
  out.reserve(out.size() + last_size_ + last_size_ / 16);
  const std::size_t before = out.size();
  append_lock_stats_metrics(out, rows());
  append_run_errors(out);
  append_cronjobs(out);
  last_size_ = out.size() - before;
}

}  // namespace cronlatch::op
