// SPDX-License-Identifier: Apache-2.0
// The handlers of the two ports: admission reviews over TLS for the API server; health, metrics and
// status over plain HTTP for the kubelet, Prometheus and the kubectl plugin.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "operator/http/http_server.h"
#include "operator/liveness.h"
#include "operator/lookup/image_lookup.h"
#include "operator/metrics/metrics.h"

namespace cronlatch::op {

// The conditions of /readyz. Settings are read before the ports are opened and are not part of it.
struct Readiness {
  std::atomic<bool> certificate{false};
  std::atomic<bool> listening{false};
  std::atomic<bool> shutting_down{false};
  std::string missing() const;  // the first unmet condition; "" when ready
};

// How long an admission waits for a registry, from the receipt of the review.
inline constexpr Millis kLookupTimeout{3'000};
// All references must outlive the handler.
HttpHandler admission_endpoints(const Settings& settings, const ImageLookup& images,
                                Metrics& metrics, const Clock& clock, const Log& log);
// `status` returns the status page (status_page.h).
HttpHandler plain_endpoints(const Readiness& readiness, Liveness& liveness, const Metrics& metrics,
                            std::function<std::string()> status);

}  // namespace cronlatch::op
