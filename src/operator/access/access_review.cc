// SPDX-License-Identifier: Apache-2.0
#include "operator/access/access_review.h"

#include <algorithm>

namespace cronlatch::op {
namespace {

using kube::Json;

Result<Json> create(kube::Api& api, const std::string& path, Json body) {
  auto answer = api.call({.method = kube::Method::create,
                          .path = path,
                          .body = std::move(body),
                          .deadline = kReviewTimeout});
  if (!answer) return answer.error();
  if (answer->ok()) return std::move(answer->body);
  return Error{Code::unreachable, path + ": " + answer->error_text(),
               answer->status == 403
                   ? "the operator needs the right to create tokenreviews and subjectaccessreviews"
                   : ""};
}

Result<Json> review_token(kube::Api& api, const AccessRequest& request) {
  Json spec = {{"token", request.token.reveal()}};
  if (!request.audience.empty()) spec["audiences"] = Json::array({request.audience});
  return create(api, "/apis/authentication.k8s.io/v1/tokenreviews",
                {{"apiVersion", "authentication.k8s.io/v1"},
                 {"kind", "TokenReview"},
                 {"spec", std::move(spec)}});
}

// An authenticator that does not support audiences returns none
// (https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1).
bool is_for_audience(const Json& review, const std::string& audience) {
  if (audience.empty()) return true;
  const auto audiences = kube::strings_at(review, {"status", "audiences"});
  return std::find(audiences.begin(), audiences.end(), audience) != audiences.end();
}

Result<Json> review_right(kube::Api& api, const Json& user, const std::string& path) {
  Json spec = {{"user", kube::string_at(user, {"username"})},
               {"nonResourceAttributes", {{"path", path}, {"verb", "get"}}}};
  for (const char* const key : {"uid", "groups", "extra"})
    if (const Json* const value = kube::find(user, {key})) spec[key] = *value;
  return create(api, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                {{"apiVersion", "authorization.k8s.io/v1"},
                 {"kind", "SubjectAccessReview"},
                 {"spec", std::move(spec)}});
}

}  // namespace

Result<AccessResult> review_access(kube::Api& api, const AccessRequest& request) {
  const auto token = review_token(api, request);
  if (!token) return token.error();
  const Json* const user = kube::find(*token, {"status", "user"});
  const std::string name = user == nullptr ? "" : kube::string_at(*user, {"username"});
  if (!kube::is_true(*token, {"status", "authenticated"}) || name.empty() ||
      !is_for_audience(*token, request.audience))
    return AccessResult{};
  const auto right = review_right(api, *user, request.path);
  if (!right) return right.error();
  const bool allowed =
      kube::is_true(*right, {"status", "allowed"}) && !kube::is_true(*right, {"status", "denied"});
  return AccessResult{allowed ? Access::allowed : Access::forbidden, name};
}

}  // namespace cronlatch::op
