// SPDX-License-Identifier: Apache-2.0
// The rows. A test fails if a counter of the store has no row.
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
constexpr auto kLockStats = MetricExporter::lock_stats;
constexpr auto kOperator = MetricExporter::own;

// clang-format off
constexpr std::array kMetrics = {
    Metric{"cronlatch_lock_acquired_total", kCounter, "", "Grants of the lock.", kLockStats, kAcquired},
    Metric{"cronlatch_lock_skipped_total", kCounter, "reason", "Runs skipped because the lock was held or the run identity was done.", kLockStats, kSkipped},
    Metric{"cronlatch_lock_stolen_total", kCounter, "", "Leases that expired without a release and were taken over by another run.", kLockStats, kStolen},
    Metric{"cronlatch_lock_released_total", kCounter, "", "Grants released by their holder.", kLockStats, kReleased},
    Metric{"cronlatch_lock_revoked_total", kCounter, "", "Grants revoked by a user.", kLockStats, kRevoked},
    Metric{"cronlatch_lock_lost_total", kCounter, "", "Runs whose lease was lost and whose command was stopped.", kLockStats, kLost},
    Metric{"cronlatch_lock_wait_timeouts_total", kCounter, "", "Waits for the lock that ended without a grant.", kLockStats, kWaitTimeouts},
    Metric{"cronlatch_lock_ungated_total", kCounter, "", "Runs without a lock because the store was unavailable.", kLockStats, kUngated},
    Metric{"cronlatch_lock_restored_total", kCounter, "", "Records that a holder restored after the store had lost them.", kLockStats, kRestored},
    Metric{"cronlatch_runs_long_total", kCounter, "", "Runs that took longer than warn-after.", kLockStats, kLong},
    Metric{"cronlatch_runs_total", kCounter, "outcome", "Runs by outcome.", kLockStats, kRuns},
    Metric{kRunErrors, kCounter, "reason", "Runs that the store could not count, by reason; signal: killed before it reported a result.", MetricExporter::run, {}},
    Metric{"cronlatch_lock_held", kGauge, "", "Unexpired leases of the job: 0 or 1, or up to cronlatch_lock_slots.", kLockStats, Gauge::held},
    Metric{"cronlatch_lock_open", kGauge, "", "Grants of the job that are not released, stolen or revoked, even if their leases have expired.", kLockStats, Gauge::open},
    Metric{"cronlatch_lock_slots", kGauge, "", "How many runs can hold the lock at once: the option slots of its present holders; none for 1.", kLockStats, Gauge::slots},
    Metric{"cronlatch_lock_waiters", kGauge, "", "Runs that wait for the lock, of all its jobs; not with the file store.", kLockStats, Gauge::waiters},
    Metric{"cronlatch_lock_acquired_timestamp_seconds", kGauge, "", "Time of the last grant of the lock.", kLockStats, Gauge::acquired_at},
    Metric{"cronlatch_lock_expires_timestamp_seconds", kGauge, "", "Time at which the lease of the open grant ends unless it is renewed; with several slots the earliest.", kLockStats, Gauge::expires_at},
    Metric{"cronlatch_last_success_timestamp_seconds", kGauge, "", "Time of the last run of the job with exit code 0.", kLockStats, Gauge::last_success},
    Metric{"cronlatch_last_skip_timestamp_seconds", kGauge, "", "Time of the last skipped run of the job.", kLockStats, Gauge::last_skip},
    Metric{"cronlatch_lock_hold_duration_percentile_seconds", kGauge, "percentile", "Median and 95th percentile of the time from the grant to the end of the command, over all recorded runs.", kLockStats, PercentileSource{hold_durations}},
    Metric{"cronlatch_lock_wait_duration_percentile_seconds", kGauge, "percentile", "Median and 95th percentile of the time from the first request to the grant, of all recorded runs that waited.", kLockStats, PercentileSource{wait_durations}},
    Metric{"cronlatch_lock_hold_duration_seconds", kHistogram, "", "Time from the grant to the end of the command. The operator exports it with lock-histograms.", kLockStats, HistogramSource{"hold", kHoldBucketsMs}},
    Metric{"cronlatch_lock_wait_duration_seconds", kHistogram, "", "Time from the first request to the grant, of runs that waited. The operator exports it with lock-histograms.", kLockStats, HistogramSource{"wait", kWaitBucketsMs}},
    Metric{"cronlatch_success_deadline_seconds", kGauge, "", "Time from the last success (or the creation) until the CronJob is overdue: alert-after, else from the schedule; not while it is suspended.", MetricExporter::cronjob, {}},
    Metric{"cronlatch_cronjob_created_timestamp_seconds", kGauge, "", "Time at which the CronJob was created, until its first success.", MetricExporter::cronjob, {}},
    Metric{"cronlatch_gated_cronjobs", kGauge, "state", "CronJobs that request a lock, by state: gated, pending (annotations not copied yet), invalid.", kOperator, {}},
    Metric{"cronlatch_ungated_jobs_total", kCounter, "namespace", "Jobs that request a lock and run without one; must be 0.", kOperator, {}},
    Metric{"cronlatch_events_suppressed_total", kCounter, "by", "Occurrences that were not written as Events at once, by cause: skip (the setting), or the limit of the object, of its namespace, or of all.", kOperator, {}},
    Metric{"cronlatch_store_up", kGauge, "endpoint", "1 while this replica can read the lock statistics from the store; a quorum: from a majority of its servers.", kOperator, {}},
    Metric{"cronlatch_store_server_up", kGauge, "endpoint", "1 while this server of a quorum answers this replica; with a minority at 0 the store works.", kOperator, {}},
    Metric{"cronlatch_store_server_latency_seconds", kGauge, "endpoint", "Time of the last read of one lock from this server of a quorum, while the server answers.", kOperator, {}},
    Metric{"cronlatch_store_server_errors_total", kCounter, "endpoint, reason", "Failed reads from this server of a quorum, by reason: unreachable, auth, tls, acl or config.", kOperator, {}},
    Metric{"cronlatch_store_quarantine_seconds", kGauge, "", "Time until the store grants locks again after a failover or a restart (option strict); 0: it does now.", kOperator, {}},
    Metric{"cronlatch_store_command_duration_seconds", kHistogram, "command", "Time to read one lock (show) or all lock statistics (list), including a connection if one was needed.", kOperator, {}},
    Metric{"cronlatch_store_resets_total", kCounter, "", "Locks whose counters restarted because the store had lost them.", kOperator, {}},
    Metric{"cronlatch_store_switches_total", kCounter, "", "Changes of the server that this replica reads, where the URL names several hosts.", kOperator, {}},
    Metric{"cronlatch_ledger_read_timestamp_seconds", kGauge, "", "Time at which this replica last read the lock statistics.", kOperator, {}},
    Metric{"cronlatch_ledger_left_out", kGauge, "", "Pairs of lock and job in the store without series here: there are too many, or their names are not valid labels.", kOperator, {}},
    Metric{"cronlatch_admission_requests_total", kCounter, "resource, result", "Admission requests by resource and result.", kOperator, {}},
    Metric{"cronlatch_admission_duration_seconds", kHistogram, "resource", "Time from a complete admission request to its response, without the network.", kOperator, {}},
    Metric{"cronlatch_entrypoint_lookups_total", kCounter, "result", "Commands of containers without a command, by source: image index, cache, registry, or error.", kOperator, {}},
    Metric{"cronlatch_entrypoint_lookup_duration_seconds", kHistogram, "", "Time to read one image from its registry, including failures.", kOperator, {}},
    Metric{"cronlatch_registry_requests_total", kCounter, "registry, kind, result", "Requests to registries by kind: head, manifest, config (a manifest and its blob); result: ok, refused, busy (a limit of the registry), error.", kOperator, {}},
    Metric{"cronlatch_certificate_expiry_timestamp_seconds", kGauge, "use", "Time at which a certificate expires: that of the webhook (serving), or the CA that signed it (ca), if the operator has its certificate.", kOperator, {}},
    Metric{"cronlatch_leader", kGauge, "", "1 in the replica that reconciles and renews certificates.", kOperator, {}},
    Metric{"cronlatch_build_info", kGauge, "version", "Always 1; the label is the version of the operator.", kOperator, {}},
    Metric{"process_cpu_seconds_total", kCounter, "", "Processor time that the operator has used.", kOperator, {}},
    Metric{"process_resident_memory_bytes", kGauge, "", "Resident memory of the operator.", kOperator, {}},
    Metric{"process_open_fds", kGauge, "", "Open file descriptors of the operator.", kOperator, {}},
    Metric{"process_max_fds", kGauge, "", "Limit of open file descriptors of the operator.", kOperator, {}},
    Metric{"process_start_time_seconds", kGauge, "", "Time at which the operator's process started.", kOperator, {}},
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
