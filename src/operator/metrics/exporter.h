// SPDX-License-Identifier: Apache-2.0
// Exporter: exports the lock statistics of the store and the gated CronJobs of this cluster as
// Prometheus text. It answers from memory and never waits for the store. Every replica receives the
// lock statistics; only the leader exports them, because two exports would double every sum.
//
// The number of label sets is bounded. Each gated CronJob of this cluster has one set of series,
// with counters at 0, until it is deleted. The store also contains pairs of job and lock of other
// clusters and hosts, and names that a tenant invents. A limited number of them is exported,
// previously exported pairs first; a metric counts the others.
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
#include "kube/object_ref.h"
#include "metrics/metrics_text.h"
#include "operator/metrics/gated_cronjobs.h"
#include "operator/metrics/lock_stats_reader.h"
#include "operator/metrics/metrics.h"
#include "operator/metrics/monotonic_counters.h"

namespace cronlatch::op {

struct ExporterOptions {
  std::size_t unknown_pairs = 10'000;  // pairs of job and lock that are no CronJob of this cluster
  std::size_t per_namespace = 1'000;   // of these, per namespace (of the job, else of the lock)
  Histograms histograms = Histograms::omitted;
};

// Thread rule: any method from any thread.
class Exporter {
 public:
  // `leading` is called at each scrape. `metrics` and `clock` must outlive the object.
  Exporter(std::function<bool()> leading, Metrics& metrics, const Clock& clock,
           ExporterOptions options = {}, ZoneSource zones = system_zones());

  void set_lock_stats(LockStatsUpdate update);

  // ---- for the leader ----
  // At each change of a CronJob, whatever its annotations are: errors of its runs are counted.
  void cronjob_exists(const kube::ObjectKey& key);
  void set_cronjob(const kube::ObjectKey& key, const GatedCronJob& facts,
                   Gated since = Gated::before);
  // It exists and requests no lock; its runs may have one. False if it was not known as gated.
  bool ungate_cronjob(const kube::ObjectKey& key);
  // It was deleted: errors of its last runs are not counted. False as above.
  bool remove_cronjob(const kube::ObjectKey& key);
  // "namespace/name" of CronJobs that were gated and deleted while another replica led. Errors of
  // their last runs are not counted. One that exists is passed to cronjob_exists() later.
  void remember_deleted(const std::vector<std::string>& jobs);
  // At the end of the term. A series of run errors is not exported again before its next error: a
  // later term would begin it with errors that an alert has counted.
  void forget_cronjobs();
  // A run of that CronJob (name empty: of a Job without a CronJob) that the store did not count.
  void count_run_error(const std::string& namespace_name, const std::string& cronjob,
                       Reason reason);

  void append_text(std::string& out);  // appends nothing while another replica leads

  // The state of the store for the status page.
  struct Status {
    std::shared_ptr<const LockStatsCopy> copy;  // null before the first successful read
    WallTime read{};                            // of the copy
    bool up = false;
    std::string error;                   // of the last read
    std::vector<ServerState> servers{};  // of a quorum, at the last read
  };
  Status status() const;

 private:
  using Pair = std::pair<std::string, std::string>;  // job, lock
  bool end_export(const std::string& job);
  // Requires a read. Also returns the counters of the CronJobs of this cluster.
  std::vector<LockStatsRow> rows(GatedCronJobs::CountersByJob& counters_of_ours);
  void add_unknown_pairs(std::vector<LockStatsRow>& rows, std::vector<LockStatsRow> unknown_pairs);
  void append_run_errors(std::string& out);

  const std::function<bool()> leading_;
  Metrics& metrics_;
  const Clock& clock_;
  const ExporterOptions options_;
  const LockView unused_lock_{};  // a lock without any run
  const Counters no_counters_{};

  mutable std::mutex mutex_;
  MonotonicCounters counters_;
  Status status_;
  GatedCronJobs cronjobs_;
  // CronJobs of this cluster, the newest last.
  std::deque<std::string> former_;   // that were gated
  std::deque<std::string> deleted_;  // in this term, gated or not; before, if they were gated
  std::set<Pair> unknown_pairs_;     // exported before
  // The count never decreases: after a short change of the leader, Prometheus compares it with the
  // value before.
  struct ErrorCount {
    std::int64_t count = 0, exported = 0;
    std::int64_t earlier = 0;  // exported when the last term of this replica ended
  };
  // By "namespace/name", and by the lock at the time of the error.
  std::map<std::string, std::map<std::pair<std::string, Reason>, ErrorCount>> run_errors_;
  std::size_t last_size_ = 0;
};

}  // namespace cronlatch::op
