// SPDX-License-Identifier: Apache-2.0
// The rows. A new counter of a store gets its row here, and a test fails until it has one.
#include "metrics/metrics_table.h"

#include <array>

#include "core/lock_stats.h"

namespace cronlatch {
namespace {

constexpr CounterSeries kAcquired[] = {{"", "acquired"}};
constexpr CounterSeries kSkipped[] = {{"held", "skipped_held"}, {"done", "skipped_done"}};
constexpr CounterSeries kStolen[] = {{"", "stolen"}};
constexpr CounterSeries kReleased[] = {{"", "released"}};
constexpr CounterSeries kRevoked[] = {{"", "revoked"}};
constexpr CounterSeries kLost[] = {{"", "lost"}};
constexpr CounterSeries kWaitTimeouts[] = {{"", "wait_timeouts"}};
constexpr CounterSeries kUngated[] = {{"", "ungated"}};
constexpr CounterSeries kRestored[] = {{"", "restored"}};
constexpr CounterSeries kLong[] = {{"", "long"}};
constexpr CounterSeries kRuns[] = {{"succeeded", "runs_succeeded"},      {"failed", "runs_failed"},
                                   {"skipped", "runs_skipped"},          {"busy", "runs_busy"},
                                   {"timed_out", "runs_timed_out"},      {"lost", "runs_lost"},
                                   {"cannot_start", "runs_cannot_start"}};

constexpr auto kCounter = MetricType::counter;
constexpr auto kGauge = MetricType::gauge;
constexpr auto kHistogram = MetricType::histogram;
constexpr auto kLockStats = Exporter::lock_stats;
constexpr auto kOperator = Exporter::own;

// clang-format off
constexpr std::array kMetrics = {
    Metric{"cronlatch_lock_acquired_total", kCounter, "", "Grants of the lock.", kLockStats, kAcquired},
    Metric{"cronlatch_lock_skipped_total", kCounter, "reason", "Runs skipped because the lock was held or the run was done already.", kLockStats, kSkipped},
    Metric{"cronlatch_lock_stolen_total", kCounter, "", "Leases that expired unreleased and were taken over by another run.", kLockStats, kStolen},
    Metric{"cronlatch_lock_released_total", kCounter, "", "Grants given back by their holder.", kLockStats, kReleased},
    Metric{"cronlatch_lock_revoked_total", kCounter, "", "Grants revoked by a person.", kLockStats, kRevoked},
    Metric{"cronlatch_lock_lost_total", kCounter, "", "Runs that found their lease gone and stopped their command.", kLockStats, kLost},
    Metric{"cronlatch_lock_wait_timeouts_total", kCounter, "", "Waits for the lock that ended without a grant.", kLockStats, kWaitTimeouts},
    Metric{"cronlatch_lock_ungated_total", kCounter, "", "Runs without a lock because the store was down.", kLockStats, kUngated},
    Metric{"cronlatch_lock_restored_total", kCounter, "", "Records that a holder restored after the store had lost them.", kLockStats, kRestored},
    Metric{"cronlatch_runs_long_total", kCounter, "", "Runs that took longer than warn-after.", kLockStats, kLong},
    Metric{"cronlatch_runs_total", kCounter, "outcome", "Runs by how they ended.", kLockStats, kRuns},
    Metric{kRunErrors, kCounter, "reason", "Runs that ended without the store's knowledge, by reason; signal: killed without a word.", Exporter::run, {}},
    Metric{"cronlatch_lock_held", kGauge, "", "1 while a live lease of the job holds the lock.", kLockStats, Gauge::held},
    Metric{"cronlatch_lock_open", kGauge, "", "1 while a grant of the job is not yet released, stolen or revoked, its lease alive or not.", kLockStats, Gauge::open},
    Metric{"cronlatch_lock_acquired_timestamp_seconds", kGauge, "", "When the lock was last granted.", kLockStats, Gauge::acquired_at},
    Metric{"cronlatch_lock_expires_timestamp_seconds", kGauge, "", "When the lease of the open grant ends unless it is renewed.", kLockStats, Gauge::expires_at},
    Metric{"cronlatch_last_success_timestamp_seconds", kGauge, "", "When a run of the job last ended with exit code 0.", kLockStats, Gauge::last_success},
    Metric{"cronlatch_last_skip_timestamp_seconds", kGauge, "", "When a run of the job was last skipped.", kLockStats, Gauge::last_skip},
    Metric{"cronlatch_lock_hold_duration_seconds", kHistogram, "", "From the grant to the end of the command.", kLockStats, HistogramSource{"hold", kHoldBucketsMs}},
    Metric{"cronlatch_lock_wait_duration_seconds", kHistogram, "", "From the first question to the grant, for runs that waited.", kLockStats, HistogramSource{"wait", kWaitBucketsMs}},
    Metric{"cronlatch_success_deadline_seconds", kGauge, "", "The annotation alert-after: how old the last success may become.", Exporter::cronjob, {}},
    Metric{"cronlatch_cronjob_created_timestamp_seconds", kGauge, "", "When the CronJob was made: for those that have never succeeded.", Exporter::cronjob, {}},
    Metric{"cronlatch_gated_cronjobs", kGauge, "state", "CronJobs that ask for a lock, by state: gated, pending (not mirrored yet), invalid.", kOperator, {}},
    Metric{"cronlatch_ungated_jobs_total", kCounter, "namespace", "Jobs that ask for a lock and run without one: must stay 0.", kOperator, {}},
    Metric{"cronlatch_store_up", kGauge, "endpoint", "1 while this replica can read the store's ledger.", kOperator, {}},
    Metric{"cronlatch_store_command_duration_seconds", kHistogram, "command", "Time for reading one lock (show) and the whole ledger (list), connecting included where it was needed.", kOperator, {}},
    Metric{"cronlatch_store_resets_total", kCounter, "", "Locks whose counters began anew because the store had lost them.", kOperator, {}},
    Metric{"cronlatch_ledger_read_timestamp_seconds", kGauge, "", "When this replica last read the ledger.", kOperator, {}},
    Metric{"cronlatch_ledger_left_out", kGauge, "", "Pairs of lock and job that the ledger has and this page has not, because there are too many or their names cannot be shown.", kOperator, {}},
    Metric{"cronlatch_admission_requests_total", kCounter, "resource, result", "Admission reviews answered, by what was answered.", kOperator, {}},
    Metric{"cronlatch_admission_duration_seconds", kHistogram, "", "Time from a complete admission request to its answer, without the network.", kOperator, {}},
    Metric{"cronlatch_entrypoint_lookups_total", kCounter, "result", "What a container without a command runs: told by the image index, remembered, read from a registry, or not found out.", kOperator, {}},
    Metric{"cronlatch_entrypoint_lookup_duration_seconds", kHistogram, "", "Time a registry took to be asked about one image, failures included.", kOperator, {}},
    Metric{"cronlatch_certificate_expiry_timestamp_seconds", kGauge, "use", "When the certificate in use ends.", kOperator, {}},
    Metric{"cronlatch_leader", kGauge, "", "1 in the replica that reconciles and keeps certificates.", kOperator, {}},
    Metric{"cronlatch_build_info", kGauge, "version", "Always 1; the label is what runs.", kOperator, {}},
    Metric{"process_cpu_seconds_total", kCounter, "", "Processor time that the operator has used.", kOperator, {}},
    Metric{"process_resident_memory_bytes", kGauge, "", "Memory that the operator has in use.", kOperator, {}},
    Metric{"process_open_fds", kGauge, "", "File descriptors that the operator has open.", kOperator, {}},
    Metric{"process_max_fds", kGauge, "", "File descriptors that the operator may have open.", kOperator, {}},
    Metric{"process_start_time_seconds", kGauge, "", "When the operator's process started.", kOperator, {}},
};
// clang-format on

}  // namespace

std::string_view name_of(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      return "histogram";
  }
  return "";
}

std::span<const Metric> metric_table() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  for (const Metric& metric : kMetrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

}  // namespace cronlatch
