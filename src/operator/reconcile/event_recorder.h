// SPDX-License-Identifier: Apache-2.0
// EventRecorder: writes Events, except those of the setting events-skip, and those beyond a limit
// (event_series.h). It counts these in cronlatch_events_suppressed_total; no other metric depends
// on it. Thread rule: any method from any thread.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "admission/settings.h"
#include "base/log.h"
#include "kube/api.h"
#include "operator/metrics/metrics.h"
#include "operator/reconcile/apply_result.h"
#include "operator/reconcile/event_series.h"

namespace cronlatch::op {

inline constexpr MetricName kEventsSuppressed{"cronlatch_events_suppressed_total"};

class EventRecorder {
 public:
  struct Dependencies {
    const Settings& settings;
    Metrics& metrics;
    const Clock& clock;
    const Log& log;
    std::string instance;  // name of this pod
  };
  explicit EventRecorder(Dependencies dependencies);

  // A repetition for the same identity has no further effect. already_exists: only for a reason
  // that is required (labels/event_reasons.h).
  ApplyResult record(kube::Api& api, const kube::Event& event);

 private:
  ApplyResult create_required(kube::Api& api, const kube::Event& event);
  EventSeries::Answer send(kube::Api& api, const EventSeries::Write& write) const;
  void refused(const kube::Event& event, const kube::Response& answer) const;
  void suppressed(std::string_view by);

  const Dependencies deps_;
  std::mutex mutex_;
  EventSeries series_;
};

}  // namespace cronlatch::op
