// SPDX-License-Identifier: Apache-2.0
// The rows. A new counter of a store gets its row here, and a test fails until it has one.
#include "core/metrics_table.h"

#include <array>

#include "core/ledger.h"

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
constexpr auto kLedger = Exporter::ledger;

// clang-format off
constexpr std::array kMetrics = {
    Metric{"cronlatch_lock_acquired_total", kCounter, "", "Grants of the lock.", kLedger, kAcquired},
    Metric{"cronlatch_lock_skipped_total", kCounter, "reason", "Runs skipped because the lock was held or the run was done already.", kLedger, kSkipped},
    Metric{"cronlatch_lock_stolen_total", kCounter, "", "Leases that expired unreleased and were taken over by another run.", kLedger, kStolen},
    Metric{"cronlatch_lock_released_total", kCounter, "", "Grants given back by their holder.", kLedger, kReleased},
    Metric{"cronlatch_lock_revoked_total", kCounter, "", "Grants revoked by a person.", kLedger, kRevoked},
    Metric{"cronlatch_lock_lost_total", kCounter, "", "Runs that found their lease gone and stopped their command.", kLedger, kLost},
    Metric{"cronlatch_lock_wait_timeouts_total", kCounter, "", "Waits for the lock that ended without a grant.", kLedger, kWaitTimeouts},
    Metric{"cronlatch_lock_ungated_total", kCounter, "", "Runs without a lock because the store was down.", kLedger, kUngated},
    Metric{"cronlatch_lock_restored_total", kCounter, "", "Records that a holder restored after the store had lost them.", kLedger, kRestored},
    Metric{"cronlatch_runs_long_total", kCounter, "", "Runs that took longer than warn-after.", kLedger, kLong},
    Metric{"cronlatch_runs_total", kCounter, "outcome", "Runs by how they ended.", kLedger, kRuns},
    Metric{kRunErrors, kCounter, "reason", "Runs that ended without the store's knowledge, by reason.", Exporter::run, {}},
    Metric{"cronlatch_lock_held", kGauge, "", "1 while a live lease of the job holds the lock.", kLedger, Gauge::held},
    Metric{"cronlatch_lock_open", kGauge, "", "1 while a grant of the job is not yet released, stolen or revoked, its lease alive or not.", kLedger, Gauge::open},
    Metric{"cronlatch_lock_acquired_timestamp_seconds", kGauge, "", "When the lock was last granted.", kLedger, Gauge::acquired_at},
    Metric{"cronlatch_lock_expires_timestamp_seconds", kGauge, "", "When the lease of the open grant ends unless it is renewed.", kLedger, Gauge::expires_at},
    Metric{"cronlatch_last_success_timestamp_seconds", kGauge, "", "When a run of the job last ended with exit code 0.", kLedger, Gauge::last_success},
    Metric{"cronlatch_last_skip_timestamp_seconds", kGauge, "", "When a run of the job was last skipped.", kLedger, Gauge::last_skip},
    Metric{"cronlatch_lock_hold_duration_seconds", kHistogram, "", "From the grant to the end of the command.", kLedger, HistogramSource{"hold", kHoldBucketsMs}},
    Metric{"cronlatch_lock_wait_duration_seconds", kHistogram, "", "From the first question to the grant, for runs that waited.", kLedger, HistogramSource{"wait", kWaitBucketsMs}},
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

}  // namespace cronlatch
