// SPDX-License-Identifier: Apache-2.0
// Metrics: what the operator knows of itself, as Prometheus text. Names and labels are the
// contract's (docs/reference); labels come from closed sets and from names of CronJobs, never from
// pods. The only user of prometheus-cpp is metrics.cc.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"

namespace cronlatch::op {

// A row of metrics/metrics_table.h, which has its help; of tests, with a help of its own.
struct MetricName {
  std::string_view name;
  std::string_view help = {};  // plain text: the library does not escape it
};
inline constexpr MetricName kAdmissionRequests{"cronlatch_admission_requests_total"};
inline constexpr MetricName kAdmissionDuration{"cronlatch_admission_duration_seconds"};
inline constexpr MetricName kCertificateExpiry{"cronlatch_certificate_expiry_timestamp_seconds"};
inline constexpr MetricName kLeader{"cronlatch_leader"};
inline constexpr MetricName kBuildInfo{"cronlatch_build_info"};
inline constexpr MetricName kEntrypointLookups{"cronlatch_entrypoint_lookups_total"};
inline constexpr MetricName kEntrypointLookupDuration{
    "cronlatch_entrypoint_lookup_duration_seconds"};
inline constexpr MetricName kStoreCommandDuration{"cronlatch_store_command_duration_seconds"};

using MetricLabels = std::map<std::string, std::string>;
// Appends families in Prometheus' text format 0.0.4, none of them also counted here. Called once
// per scrape, on a worker thread: it answers from what it has, and never waits for a store.
using MetricSource = std::function<void(std::string&)>;

// Thread rule: any method from any thread. Nothing throws: what cannot be counted is not.
class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void admission(std::string_view resource, std::string_view result, Micros took);
  void store_command(std::string_view command, Micros took);  // command: show, list
  // Of a registry that was asked, whatever came of it.
  void entrypoint_lookup_took(Micros took);
  void certificate_expiry(std::string_view use, WallTime not_after);  // use: serving, ca
  void leader(bool leading);

  // For metrics that other parts own: each name is either a counter or a gauge, for good. By 0
  // shows a counter before it has counted.
  void count(const MetricName& counter, const MetricLabels& labels, double by = 1);
  void set(const MetricName& gauge, const MetricLabels& labels, double value);
  void add_source(MetricSource source);

  std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace cronlatch::op
