// SPDX-License-Identifier: Apache-2.0
// The handlers of the ports: admission reviews over TLS for the API server; health over plain HTTP
// for the kubelet; metrics and status for Prometheus and the kubectl plugin, beside health, or on a
// port of their own with TLS and tokens.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "operator/access/access_control.h"
#include "operator/admission_clients.h"
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
// The settings of one admission; they outlive the handler. Any thread; does not block.
using CurrentSettings = std::function<const Settings&()>;
// All references must outlive the handler.
HttpHandler admission_endpoints(const CurrentSettings& settings, const ImageLookup& images,
                                Metrics& metrics, AdmissionClients& clients, const Clock& clock,
                                const Log& log);

// `handler`, of which each call must end within the limit of `liveness`. `liveness` outlives it.
HttpHandler watched(Liveness& liveness, std::string_view name, HttpHandler handler);

struct Pages {
  const Metrics& metrics;
  std::function<std::string()> status;  // returns the status page (status_page.h)
};
// Without `pages` they are served by protected_endpoints.
HttpHandler plain_endpoints(const Readiness& readiness, Liveness& liveness,
                            const std::optional<Pages>& pages);
HttpHandler protected_endpoints(const Pages& pages, AccessControl& access);

}  // namespace cronlatch::op
