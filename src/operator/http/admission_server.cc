// SPDX-License-Identifier: Apache-2.0
// POST /admit/cronjob, /admit/job; GET /healthz, /readyz, /metrics, /status.
#include "operator/http/admission_server.h"

#include <utility>

#include "admission/review.h"
#include "operator/http/routes.h"

namespace cronlatch::op {
namespace {

using Review = ReviewResponse (*)(std::string_view, const Settings&, const EntrypointSource&);

// An AdmissionReview that says no is an answer like any other: the API server wants it with 200.
Route admission(std::string_view path, Review review, const Settings& settings,
                const ImageLookup& images, Metrics& metrics, const Clock& clock, const Log& log) {
  return {"POST", path, "application/json",
          [&settings, &images, &metrics, &clock, &log, review](const HttpRequest& request) {
            const TimePoint asked = clock.now();
            ReviewResponse reviewed =
                review(request.body, settings,
                       DeadlineEntrypointSource(images, asked + kPatienceWithRegistries));
            const Micros took = clock.now() - asked;
            metrics.admission(reviewed.resource, reviewed.result, took);
            log({reviewed.result == "error" ? Level::warn : Level::debug,
                 "admission_answered",
                 "answered an admission review",
                 {{"resource", std::string(reviewed.resource)},
                  {"result", std::string(reviewed.result)},
                  {"us", std::to_string(took.count())}}});
            return HttpResponse{.content_type = "application/json",
                                .body = std::move(reviewed.body)};
          }};
}

}  // namespace

std::string Readiness::missing() const {
  if (leaving) return "shutting down";
  if (!certificate) return "there is no serving certificate yet";
  if (!listening) return "not listening yet";
  return "";
}

HttpHandler admission_routes(const Settings& settings, const ImageLookup& images, Metrics& metrics,
                             const Clock& clock, const Log& log) {
  return dispatch(
      {admission("/admit/cronjob", review_cronjob, settings, images, metrics, clock, log),
       admission("/admit/job", review_job, settings, images, metrics, clock, log)});
}

HttpHandler plain_routes(const Readiness& readiness, const Metrics& metrics,
                         std::function<std::string()> status) {
  const auto alive = [](const HttpRequest&) { return HttpResponse{.body = "ok\n"}; };
  const auto ready = [&readiness](const HttpRequest&) {
    const std::string missing = readiness.missing();
    if (missing.empty()) return HttpResponse{.body = "ok\n"};
    return HttpResponse{.status = 503, .body = missing + "\n"};
  };
  const auto measured = [&metrics](const HttpRequest&) {
    return HttpResponse{.content_type = std::string(kMetricsContentType), .body = metrics.text()};
  };
  const auto state = [status = std::move(status)](const HttpRequest&) {
    return HttpResponse{.content_type = "application/json", .body = status()};
  };
  return dispatch({{"GET", "/healthz", "", alive},
                   {"GET", "/readyz", "", ready},
                   {"GET", "/status", "", state},
                   {"GET", "/metrics", "", measured}});
}

}  // namespace cronlatch::op
