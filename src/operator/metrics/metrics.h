// SPDX-License-Identifier: Apache-2.0
// Metrics: the metrics of this replica as Prometheus text. Names and labels are public
// (docs/reference). Label values come from closed lists and from names of CronJobs, never from
// pods. Only metrics.cc uses prometheus-cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace cronlatch::op {

// The row of metrics/metrics_table.h with this name has the type and the help text.
struct MetricName {
  std::string_view name;
};
inline constexpr MetricName kAdmissionRequests{"cronlatch_admission_requests_total"};
inline constexpr MetricName kAdmissionDuration{"cronlatch_admission_duration_seconds"};
inline constexpr MetricName kCertificateExpiry{"cronlatch_certificate_expiry_timestamp_seconds"};
inline constexpr MetricName kLeader{"cronlatch_leader"};
inline constexpr MetricName kBuildInfo{"cronlatch_build_info"};
inline constexpr MetricName kEntrypointLookups{"cronlatch_entrypoint_lookups_total"};
inline constexpr MetricName kEntrypointLookupDuration{
    "cronlatch_entrypoint_lookup_duration_seconds"};
inline constexpr MetricName kRegistryRequests{"cronlatch_registry_requests_total"};
inline constexpr MetricName kStoreCommandDuration{"cronlatch_store_command_duration_seconds"};

using MetricLabels = std::map<std::string, std::string>;
// Appends families in Prometheus' text format 0.0.4 that Metrics does not have. Called once per
// scrape on a worker thread; it must answer from memory and not wait for a store.
using MetricSource = std::function<void(std::string&)>;

// Thread rule: any method from any thread. Nothing throws: a failed update is dropped.
class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void admission(std::string_view resource, std::string_view result, Micros took);
  void store_command(std::string_view command, Micros took);  // command: show, list
  // Of a request to a registry, with any result.
  void entrypoint_lookup_took(Micros took);
  void entrypoint_answered(std::string_view result);  // index, cache, registry, error
  // use: serving, ca. Without a time the series ends.
  void certificate_expiry(std::string_view use, std::optional<WallTime> not_after);
  void leader(bool leading);

  // For metrics of other modules. An update of a name without a row, or that does not fit the type
  // of its row, is dropped. `by` 0 exports a counter before its first event.
  void count(const MetricName& counter, const MetricLabels& labels, double by = 1);
  void set(const MetricName& gauge, const MetricLabels& labels, double value);
  // The series ends; for labels whose value has changed.
  void remove(const MetricName& gauge, const MetricLabels& labels);
  void add_source(MetricSource source);

  std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace cronlatch::op
