// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/exporter.h"

#include <algorithm>

#include "base/text.h"

namespace cronlatch::op {
namespace {

constexpr MetricName kResets{"cronlatch_store_resets_total"};
constexpr MetricName kOmitted{"cronlatch_ledger_left_out"};

// Statistics of former CronJobs are not exported although the store still has them.
constexpr std::size_t kMaxFormer = 5'000;
// Longer than any name of Kubernetes: a longer one was invented by a tenant.
constexpr std::size_t kMaxName = 520;

std::string job_of(const kube::ObjectKey& key) { return key.namespace_name + "/" + key.name; }

bool contains(const std::deque<std::string>& jobs, const std::string& job) {
  return std::find(jobs.begin(), jobs.end(), job) != jobs.end();
}

void add_to(std::deque<std::string>& jobs, const std::string& job) {
  if (contains(jobs, job)) return;
  jobs.push_back(job);
  if (jobs.size() > kMaxFormer) jobs.pop_front();
}

// Prometheus rejects the whole page if one label is invalid UTF-8.
bool is_valid_label(std::string_view name) {
  if (name.size() > kMaxName) return false;
  while (!name.empty()) {
    const std::size_t length = utf8_length(name);
    if (length == 0 || static_cast<unsigned char>(name.front()) < 0x20) return false;
    name.remove_prefix(length);
  }
  return true;
}

// The namespace of the job, else the first part of the lock's name.
std::string namespace_of(const std::string& job, const std::string& lock) {
  const std::string& name = job.find('/') == std::string::npos ? lock : job;
  return name.substr(0, name.find('/'));
}

}  // namespace

Exporter::Exporter(std::function<bool()> leading, Metrics& metrics, const Clock& clock,
                   ExporterOptions options, ZoneSource zones)
    : leading_(std::move(leading)),
      metrics_(metrics),
      clock_(clock),
      options_(options),
      cronjobs_(std::move(zones)) {
  metrics_.count(kResets, {}, 0);
}

void Exporter::set_lock_stats(LockStatsUpdate update) {
  const std::lock_guard lock(mutex_);
  status_.error = update.error;
  status_.servers = std::move(update.servers);
  status_.up = update.error.empty();
  if (!status_.up) return;
  status_.copy = counters_.update(std::move(update.locks), clock_.now());
  status_.read = clock_.wall();
  // Every replica detects resets; only the leader counts them.
  if (leading_()) metrics_.count(kResets, {}, static_cast<double>(counters_.resets()));
}

void Exporter::set_cronjob(const kube::ObjectKey& key, const GatedCronJob& facts, Gated since) {
  const std::lock_guard lock(mutex_);
  cronjobs_.set(job_of(key), facts, since, clock_.wall());
  std::erase(former_, job_of(key));
}

void Exporter::cronjob_exists(const kube::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  std::erase(deleted_, job_of(key));
}

bool Exporter::end_export(const std::string& job) {
  if (!cronjobs_.remove(job)) return false;
  add_to(former_, job);
  return true;
}

bool Exporter::ungate_cronjob(const kube::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  return end_export(job_of(key));
}

bool Exporter::remove_cronjob(const kube::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  const std::string job = job_of(key);
  run_errors_.erase(job);
  add_to(deleted_, job);
  return end_export(job);
}

void Exporter::remember_deleted(const std::vector<std::string>& jobs) {
  const std::lock_guard lock(mutex_);
  for (const std::string& job : jobs) {
    if (cronjobs_.contains(job)) continue;
    add_to(former_, job);
    add_to(deleted_, job);
    run_errors_.erase(job);
  }
}

void Exporter::forget_cronjobs() {
  const std::lock_guard lock(mutex_);
  cronjobs_.clear();
  deleted_.clear();
  unknown_pairs_.clear();
  for (auto& [job, counts] : run_errors_)
    for (auto& [key, errors] : counts) errors.earlier = errors.exported;
}

void Exporter::count_run_error(const std::string& namespace_name, const std::string& cronjob,
                               Reason reason) {
  const std::lock_guard lock(mutex_);
  const std::string job = namespace_name + "/" + cronjob;
  if (contains(deleted_, job)) return;  // nothing would remove the series
  ++run_errors_[job][{cronjobs_.lock_of(job), reason}].count;
}

Exporter::Status Exporter::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Exporter::add_unknown_pairs(std::vector<LockStatsRow>& rows,
                                 std::vector<LockStatsRow> unknown_pairs) {
  // Previously exported pairs come first: newly invented names must not replace them.
  const auto shown = [&](const LockStatsRow& row) {
    return unknown_pairs_.contains({*row.job, row.view->lock});
  };
  std::stable_partition(unknown_pairs.begin(), unknown_pairs.end(), shown);
  std::set<Pair> now;
  std::map<std::string, std::size_t> by_namespace;
  for (LockStatsRow& row : unknown_pairs) {
    if (now.size() >= options_.unknown_pairs) break;
    if (++by_namespace[namespace_of(*row.job, row.view->lock)] > options_.per_namespace) continue;
    now.emplace(*row.job, row.view->lock);
    row.labels = render(SeriesLabels{*row.job, row.view->lock});
    rows.push_back(std::move(row));
  }
  unknown_pairs_ = std::move(now);
}

std::vector<LockStatsRow> Exporter::rows(GatedCronJobs::CountersByJob& counters_of_ours) {
  std::vector<LockStatsRow> ours, unknown_pairs;
  const std::set<std::string_view> former(former_.begin(), former_.end());
  std::size_t invalid = 0;
  const auto take = [&](const LockView& view, const std::string& job, const Counters& counters) {
    if (const std::string* const known = cronjobs_.find(job, view.lock)) {
      counters_of_ours.emplace(*known, &counters);
      ours.push_back({render(SeriesLabels{job, view.lock}), &view, &job, &counters});
    } else if (former.contains(job)) {
      return;
    } else if (is_valid_label(job) && is_valid_label(view.lock)) {
      unknown_pairs.push_back({"", &view, &job, &counters});
    } else {
      ++invalid;
    }
  };
  const LockStatsCopy& copy = *status_.copy;
  for (const LockView& view : copy.read)
    if (!copy.kept.contains(view.lock)) each_row(view, take);
  for (const auto& [lock, view] : copy.kept) each_row(view, take);
  cronjobs_.each([&](const std::string& job, const std::string& lock) {
    if (!counters_of_ours.contains(job))
      ours.push_back({render(SeriesLabels{job, lock}), &unused_lock_, &job, &no_counters_});
  });
  const std::size_t all = ours.size() + unknown_pairs.size() + invalid;
  add_unknown_pairs(ours, std::move(unknown_pairs));
  metrics_.set(kOmitted, {}, static_cast<double>(all - ours.size()));
  return ours;
}

void Exporter::append_run_errors(std::string& out) {
  RunErrors errors;
  for (auto& [job, counts] : run_errors_)
    for (auto& [key, count] : counts) {
      if (count.count == count.earlier) continue;
      const auto& [lock, reason] = key;
      count.exported = count.count;
      errors[render(SeriesLabels{job, lock}) + ",reason=\"" + std::string(name_of(reason)) + '"'] =
          count.count;
    }
  out += run_error_metrics(errors);
}

void Exporter::append_text(std::string& out) {
  if (!leading_()) {
    metrics_.set(kOmitted, {}, 0);
    return;
  }
  const std::lock_guard lock(mutex_);
  out.reserve(out.size() + last_size_ + last_size_ / 16);
  const std::size_t before = out.size();
  // Before the first read the counters and the last success are unknown: zero would be wrong.
  if (status_.copy != nullptr) {
    GatedCronJobs::CountersByJob counters;
    append_lock_stats_metrics(out, rows(counters), options_.histograms);
    cronjobs_.append_text(out, counters);
  }
  append_run_errors(out);
  last_size_ = out.size() - before;
}

}  // namespace cronlatch::op
