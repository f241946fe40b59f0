// SPDX-License-Identifier: Apache-2.0
// Reviews of the API server: whether it accepts a bearer token (TokenReview), and whether the user
// of the token may read a path (SubjectAccessReview).
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "kube/api.h"

namespace cronlatch::op {

struct AccessRequest {
  Secret token;
  std::string audience;  // the token must be for it; "": that of the API server
  std::string path;      // a URL that is no resource of the API server: "/metrics"
};

enum class Access {
  allowed,
  unknown_token,  // invalid, expired, or for another audience
  forbidden,      // the user has no right to get the path
};

struct AccessResult {
  Access access = Access::unknown_token;
  std::string user{};  // "system:serviceaccount:monitoring:prometheus"; "" for an unknown token
};

// The limit of one review. Both together take less time than HttpLimits::answer.
inline constexpr Millis kReviewTimeout{3'000};

// Blocks. An error: the API server did not answer, or refused the review; the caller must then
// refuse the request. No result and no error contains the token.
Result<AccessResult> review_access(kube::Api& api, const AccessRequest& request);

}  // namespace cronlatch::op
