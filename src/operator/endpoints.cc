// SPDX-License-Identifier: Apache-2.0
// POST /admit/cronjob, /admit/job; GET /healthz, /readyz, /metrics, /status; POST /status with a
// token.
#include "operator/endpoints.h"

#include <utility>

#include "admission/review.h"
#include "operator/access/require_token.h"
#include "operator/http/routes.h"
#include "operator/lookup/deadline_entrypoint_source.h"

namespace cronlatch::op {
namespace {

using Review = ReviewResponse (*)(std::string_view, const Settings&, const EntrypointSource&);

// A review that denies the request is a success for HTTP: the API server requires status 200.
HttpRoute admission(std::string_view path, Review review, const CurrentSettings& settings,
                    const ImageLookup& images, Metrics& metrics, AdmissionClients& clients,
                    const Clock& clock, const Log& log) {
  return {
      "POST", path, "application/json",
      [settings, &images, &metrics, &clients, &clock, &log, review](const HttpRequest& request) {
        const TimePoint received = clock.now();
        clients.add(request.peer);
        ReviewResponse reviewed = review(
            request.body, settings(), DeadlineEntrypointSource(images, received + kLookupTimeout));
        const Micros took = clock.now() - received;
        metrics.admission(reviewed.resource, reviewed.result, took);
        log({reviewed.result == "error" ? Level::warn : Level::debug,
             "admission_answered",
             "answered an admission review",
             {{"resource", std::string(reviewed.resource)},
              {"result", std::string(reviewed.result)},
              {"us", std::to_string(took.count())}}});
        return HttpResponse{.content_type = "application/json", .body = std::move(reviewed.body)};
      }};
}

HttpHandler metrics_page(const Metrics& metrics) {
  return [&metrics](const HttpRequest&) {
    return HttpResponse{.content_type = std::string(kMetricsContentType), .body = metrics.text()};
  };
}

HttpHandler status_page(std::function<std::string()> status) {
  return [status = std::move(status)](const HttpRequest&) {
    return HttpResponse{.content_type = "application/json", .body = status()};
  };
}

}  // namespace

std::string Readiness::missing() const {
  if (shutting_down) return "shutting down";
  if (!certificate) return "no serving certificate yet";
  if (!listening) return "not listening yet";
  return "";
}

HttpHandler admission_endpoints(const CurrentSettings& settings, const ImageLookup& images,
                                Metrics& metrics, AdmissionClients& clients, const Clock& clock,
                                const Log& log) {
  return dispatch(
      {admission("/admit/cronjob", review_cronjob, settings, images, metrics, clients, clock, log),
       admission("/admit/job", review_job, settings, images, metrics, clients, clock, log)});
}

HttpHandler watched(Liveness& liveness, std::string_view name, HttpHandler handler) {
  return [&liveness, name = std::string(name),
          handler = std::move(handler)](const HttpRequest& request) {
    struct Call {
      ~Call() { liveness.end(); }  // a handler may throw
      Liveness& liveness;
    } const call{liveness};
    liveness.begin(name, Millis(0));
    return handler(request);
  };
}

HttpHandler plain_endpoints(const Readiness& readiness, Liveness& liveness,
                            const std::optional<Pages>& pages) {
  // A loop that has ended does not fail the probe during a shutdown.
  const auto alive = [&readiness, &liveness](const HttpRequest&) {
    const std::string stuck = readiness.shutting_down ? "" : liveness.stuck();
    if (stuck.empty()) return HttpResponse{.body = "ok\n"};
    return HttpResponse{.status = 503, .body = stuck + "\n"};
  };
  const auto ready = [&readiness](const HttpRequest&) {
    const std::string missing = readiness.missing();
    if (missing.empty()) return HttpResponse{.body = "ok\n"};
    return HttpResponse{.status = 503, .body = missing + "\n"};
  };
  std::vector<HttpRoute> routes = {{"GET", "/healthz", "", alive}, {"GET", "/readyz", "", ready}};
  if (pages) {
    routes.push_back({"GET", "/status", "", status_page(pages->status)});
    routes.push_back({"GET", "/metrics", "", metrics_page(pages->metrics)});
  }
  return dispatch(std::move(routes));
}

HttpHandler protected_endpoints(const Pages& pages, AccessControl& access) {
  const HttpHandler status = status_page(pages.status);
  return dispatch({{"GET", "/metrics", "",
                    require_token(access, TokenPlace::header, metrics_page(pages.metrics))},
                   {"GET", "/status", "", require_token(access, TokenPlace::header, status)},
                   {"POST", "/status", "", require_token(access, TokenPlace::body, status)}});
}

}  // namespace cronlatch::op
