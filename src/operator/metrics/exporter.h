// SPDX-License-Identifier: Apache-2.0
// Exporter: what the leader knows beyond its own process, as Prometheus text: the store's ledger,
// and the gated CronJobs of this cluster. It answers from what it has been told and never waits.
// Every replica is told the ledger; one of them shows it, as two would double every sum.
//
// Labels are bounded. Each gated CronJob of this cluster has one set of series, from the moment it
// is seen (counters at 0) until it is gone. Beside those the ledger holds what other clusters and
// hosts count, and what a tenant makes up: of that a limited number is shown, those shown before
// first, and the rest is counted.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/outcome.h"
#include "kube/watcher.h"
#include "metrics/metrics_text.h"
#include "operator/metrics/gated_cronjob.h"
#include "operator/metrics/lock_stats_reader.h"
#include "operator/metrics/metrics.h"
#include "operator/metrics/monotonic_counters.h"

namespace cronlatch::op {

struct ExporterLimits {
  std::size_t others = 10'000;       // pairs of lock and job that are no CronJob of ours
  std::size_t of_one_space = 1'000;  // of them, of one namespace (of the job, else of the lock)
};

// Thread rule: any method from any thread.
class Exporter {
 public:
  // `leading`: do we show? Asked at each scrape. `metrics` and `clock` outlive it.
  Exporter(std::function<bool()> leading, Metrics& metrics, const Clock& clock,
           ExporterLimits limits = {});

  void lock_stats(LockStatsUpdate news);

  // ---- the leader's ----
  void cronjob(const kube::ObjectKey& key, const GatedCronJob& facts);
  // Deleted, or not gated any more; false when it was not known as gated.
  bool gone(const kube::ObjectKey& key);
  // "namespace/name" of CronJobs that went while another led.
  void remember_gone(const std::vector<std::string>& jobs);
  void forget_cronjobs();  // the term is over
  // A run of that CronJob (name empty: of a Job without one) which the store does not know of.
  void run_error(const std::string& namespace_name, const std::string& cronjob, Reason reason);

  void append_text(std::string& out);  // nothing in replicas that do not lead

  // What the status page shows of the store.
  struct Status {
    std::shared_ptr<const LockStatsCopy> copy;  // null before the first reading
    WallTime read{};                            // of the copy
    bool up = false;
    std::string error;  // of the last reading
  };
  Status status() const;

 private:
  using Pair = std::pair<std::string, std::string>;  // job, lock
  void add_gone(const std::string& job);
  std::vector<LockStatsRow> rows();
  void add_others(std::vector<LockStatsRow>& rows, std::vector<LockStatsRow> others);
  void append_run_errors(std::string& out) const;
  void append_cronjobs(std::string& out) const;

  const std::function<bool()> leading_;
  Metrics& metrics_;
  const Clock& clock_;
  const ExporterLimits limits_;
  const LockView nobody_{};  // a lock that nobody has used
  const Counters nothing_{};

  mutable std::mutex mutex_;
  MonotonicCounters marks_;
  Status status_;
  std::map<std::string, GatedCronJob> cronjobs_;  // by "namespace/name"
  std::deque<std::string> gone_;                  // of this cluster, the newest last
  std::set<Pair> others_;                         // shown before
  std::map<std::string, std::map<Reason, std::int64_t>> run_errors_;  // by "namespace/name"
  std::size_t last_size_ = 0;
};

}  // namespace cronlatch::op
