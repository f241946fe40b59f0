// SPDX-License-Identifier: Apache-2.0
#include "operator/access/require_token.h"

#include <utility>

#include "kube/json.h"
#include "labels/status_token.h"

namespace cronlatch::op {
namespace {

constexpr kube::JsonLimits kBodyLimits{.bytes = std::size_t{64} * 1024, .depth = 4};

AccessRequest access_request(const HttpRequest& request, TokenPlace place) {
  if (place == TokenPlace::header) return {request.bearer, "", request.path};
  const auto body = kube::parse_json(request.body, kBodyLimits);
  return {Secret(body ? kube::string_at(*body, {"token"}) : ""), std::string(kStatusAudience),
          request.path};
}

HttpResponse refusal(const AccessResult& result, TokenPlace place) {
  if (result.access == Access::forbidden)
    return {.status = 403,
            .body = result.user + " has no right to get this path; bind a ClusterRole to it\n"};
  if (place == TokenPlace::body)
    return {.status = 401,
            .body = R"(send {"token":"..."} with a token for the audience )" +
                    std::string(kStatusAudience) + "\n",
            .authenticate = "Bearer"};
  return {.status = 401,
          .body = "send a bearer token that the API server accepts\n",
          .authenticate = "Bearer"};
}

}  // namespace

HttpHandler require_token(AccessControl& access, TokenPlace place, HttpHandler page) {
  return [&access, place, page = std::move(page)](const HttpRequest& request) -> HttpResponse {
    const auto result = access.check(access_request(request, place), request.peer);
    if (!result) return {.status = 503, .body = result.error().message + "\n"};
    if (result->access != Access::allowed) return refusal(*result, place);
    return page(request);
  };
}

}  // namespace cronlatch::op
