// SPDX-License-Identifier: Apache-2.0
// What the operator's two ports answer: admissions over TLS for the API server, health and metrics
// in plain HTTP for the kubelet and Prometheus. Only functions; http_server.h serves them.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "operator/http/http_server.h"
#include "operator/lookup/image_lookup.h"
#include "operator/metrics/metrics.h"

namespace cronlatch::op {

// What must be true before the Service may send admissions here. Settings are read before anything
// listens, so they are not among it.
struct Readiness {
  std::atomic<bool> certificate{false};
  std::atomic<bool> listening{false};
  std::atomic<bool> leaving{false};
  std::string missing() const;  // what is not, for people; "" when ready
};

// How long an admission may wait for a registry, from the moment it was read.
inline constexpr Millis kPatienceWithRegistries{3'000};
// Everything that is passed outlives the handler.
HttpHandler admission_routes(const Settings& settings, const ImageLookup& images, Metrics& metrics,
                             const Clock& clock, const Log& log);
// `status` gives the status page (status_page.h).
HttpHandler plain_routes(const Readiness& readiness, const Metrics& metrics,
                         std::function<std::string()> status);

}  // namespace cronlatch::op
