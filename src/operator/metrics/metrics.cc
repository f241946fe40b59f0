// SPDX-License-Identifier: Apache-2.0
// All exceptions of prometheus-cpp are caught in this file.
#include "operator/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "metrics/metrics_table.h"

namespace cronlatch::op {
namespace {

// The API server's timeout is at most 10 s; most answers take less than a millisecond.
const prometheus::Histogram::BucketBoundaries& buckets() {
  static const prometheus::Histogram::BucketBoundaries kBuckets{
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  return kBuckets;
}

// The types of the table in prometheus-cpp.
template <class Value>
struct TypeOf;
template <>
struct TypeOf<prometheus::Counter> {
  static constexpr MetricType kType = MetricType::counter;
  static auto builder() { return prometheus::BuildCounter(); }
};
template <>
struct TypeOf<prometheus::Gauge> {
  static constexpr MetricType kType = MetricType::gauge;
  static auto builder() { return prometheus::BuildGauge(); }
};
template <>
struct TypeOf<prometheus::Histogram> {
  static constexpr MetricType kType = MetricType::histogram;
  static auto builder() { return prometheus::BuildHistogram(); }
};

template <class Action>
void without_throwing(const Action& action) {
  try {
    action();
  } catch (const std::exception&) {  // an invalid label name, or out of memory
  }
}

}  // namespace

class Metrics::Impl {
 public:
  // nullptr: the table has no row of this name, or its row has another type.
  template <class Value>
  prometheus::Family<Value>* find_family(const MetricName& metric) {
    const Metric* const row = find_metric(metric.name);
    if (row == nullptr || row->type != TypeOf<Value>::kType) return nullptr;
    return &TypeOf<Value>::builder()
                .Name(std::string(row->name))
                .Help(std::string(row->help))
                .Register(registry);
  }
  // For the constants of metrics.h, which have rows.
  template <class Value>
  prometheus::Family<Value>& family(const MetricName& metric) {
    return *find_family<Value>(metric);
  }

  prometheus::Registry registry;  // Register() returns an existing family of that name
  prometheus::Family<prometheus::Counter>& admissions =
      family<prometheus::Counter>(kAdmissionRequests);
  prometheus::Family<prometheus::Histogram>& admission_seconds =
      family<prometheus::Histogram>(kAdmissionDuration);
  prometheus::Family<prometheus::Histogram>& store_seconds =
      family<prometheus::Histogram>(kStoreCommandDuration);
  prometheus::Histogram& lookup_seconds =
      family<prometheus::Histogram>(kEntrypointLookupDuration).Add({}, buckets());
  std::mutex mutex;
  std::vector<MetricSource> sources;
};

Metrics::Metrics(std::string_view version) : impl_(std::make_unique<Impl>()) {
  for (const char* resource : {"cronjob", "job"}) {
    for (const char* result : {"mutated", "skipped", "denied", "error"}) {
      count(kAdmissionRequests, {{"resource", resource}, {"result", result}}, 0);
    }
    without_throwing([&] { impl_->admission_seconds.Add({{"resource", resource}}, buckets()); });
  }
  for (const char* result : {"index", "cache", "registry", "error"})
    count(kEntrypointLookups, {{"result", result}}, 0);
  leader(false);
  set(kBuildInfo, {{"version", std::string(version)}}, 1);
}

Metrics::~Metrics() = default;

void Metrics::admission(std::string_view resource, std::string_view result, Micros took) {
  without_throwing([&] {
    impl_->admissions.Add({{"resource", std::string(resource)}, {"result", std::string(result)}})
        .Increment();
    impl_->admission_seconds.Add({{"resource", std::string(resource)}}, buckets())
        .Observe(std::chrono::duration<double>(took).count());
  });
}

void Metrics::store_command(std::string_view command, Micros took) {
  without_throwing([&] {
    impl_->store_seconds.Add({{"command", std::string(command)}}, buckets())
        .Observe(std::chrono::duration<double>(took).count());
  });
}

void Metrics::entrypoint_lookup_took(Micros took) {
  without_throwing(
      [&] { impl_->lookup_seconds.Observe(std::chrono::duration<double>(took).count()); });
}

void Metrics::entrypoint_answered(std::string_view result) {
  count(kEntrypointLookups, {{"result", std::string(result)}});
}

void Metrics::certificate_expiry(std::string_view use, std::optional<WallTime> not_after) {
  const MetricLabels labels{{"use", std::string(use)}};
  if (!not_after) return remove(kCertificateExpiry, labels);
  set(kCertificateExpiry, labels, static_cast<double>(not_after->us) / 1e6);
}

void Metrics::leader(bool leading) { set(kLeader, {}, leading ? 1 : 0); }

void Metrics::count(const MetricName& counter, const MetricLabels& labels, double by) {
  without_throwing([&] {
    if (auto* const family = impl_->find_family<prometheus::Counter>(counter))
      family->Add(labels).Increment(by);
  });
}

void Metrics::set(const MetricName& gauge, const MetricLabels& labels, double value) {
  without_throwing([&] {
    if (auto* const family = impl_->find_family<prometheus::Gauge>(gauge))
      family->Add(labels).Set(value);
  });
}

void Metrics::remove(const MetricName& gauge, const MetricLabels& labels) {
  without_throwing([&] {
    if (auto* const family = impl_->find_family<prometheus::Gauge>(gauge))
      family->Remove(&family->Add(labels));
  });
}

void Metrics::add_source(MetricSource source) {
  const std::lock_guard lock(impl_->mutex);
  impl_->sources.push_back(std::move(source));
}

std::string Metrics::text() const {
  std::string out;
  without_throwing(
      [&] { out = prometheus::TextSerializer().Serialize(impl_->registry.Collect()); });
  std::vector<MetricSource> sources;
  {
    const std::lock_guard lock(impl_->mutex);
    sources = impl_->sources;
  }
  for (const MetricSource& source : sources) {
    const std::size_t before = out.size();
    bool whole = false;
    without_throwing([&] {
      source(out);
      whole = true;
    });
    if (!whole) out.resize(before);  // one that fails must not hide the unknown_pairs
  }
  return out;
}

}  // namespace cronlatch::op
