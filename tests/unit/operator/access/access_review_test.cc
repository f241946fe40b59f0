// SPDX-License-Identifier: Apache-2.0
#include "operator/access/access_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reviewer.h"

namespace cronlatch::op {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Reviewer;

Access access_of(Reviewer& api, const AccessRequest& request) {
  const auto result = review_access(api, request);
  EXPECT_TRUE(result) << result.error().message;
  return result->access;
}

TEST(AccessReview, AllowsAUserWithTheRight) {
  Reviewer api;
  const auto result = review_access(api, {Secret("good"), "", "/metrics"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->access, Access::allowed);
  EXPECT_EQ(result->user, "prometheus");
  ASSERT_EQ(api.requests.size(), 2u);
  EXPECT_EQ(api.requests[0].method, kube::Method::create);
  EXPECT_EQ(api.requests[0].path, "/apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_FALSE(api.requests[0].body["spec"].contains("audiences"));
  const kube::Json& spec = api.requests[1].body["spec"];
  EXPECT_EQ(api.requests[1].path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(spec["nonResourceAttributes"], kube::Json({{"path", "/metrics"}, {"verb", "get"}}));
  EXPECT_EQ(spec["uid"], "u-1");
  EXPECT_EQ(spec["groups"], kube::Json::array({"system:authenticated"}));
  EXPECT_EQ(spec["extra"], kube::Json({{"pod", {"p-0"}}}));
}

TEST(AccessReview, RefusesAnUnknownTokenWithoutASecondReview) {
  Reviewer api;
  EXPECT_EQ(access_of(api, {Secret("other"), "", "/metrics"}), Access::unknown_token);
  EXPECT_EQ(api.requests.size(), 1u);
}

TEST(AccessReview, RefusesAUserWithoutTheRight) {
  Reviewer api;
  EXPECT_EQ(access_of(api, {Secret("good"), "", "/status"}), Access::forbidden);
}

TEST(AccessReview, RequiresTheAudience) {
  Reviewer api;
  api.rights["prometheus"].insert("/status");
  EXPECT_EQ(access_of(api, {Secret("good"), "status.cronlatch.dev", "/status"}),
            Access::unknown_token);
  api.audience = "status.cronlatch.dev";
  EXPECT_EQ(access_of(api, {Secret("good"), "status.cronlatch.dev", "/status"}), Access::allowed);
  EXPECT_EQ(access_of(api, {Secret("good"), "", "/status"}), Access::unknown_token);
}

TEST(AccessReview, RefusesATokenWhoseAudienceTheServerDidNotCheck) {
  Reviewer api;
  api.rights["prometheus"].insert("/status");
  api.returns_audiences = false;
  EXPECT_EQ(access_of(api, {Secret("good"), "status.cronlatch.dev", "/status"}),
            Access::unknown_token);
}

TEST(AccessReview, ReturnsAnErrorWithoutTheTokenWhenTheServerDoesNotReview) {
  Reviewer api;
  api.status_of_failures = 403;
  const auto forbidden = review_access(api, {Secret("good"), "", "/metrics"});
  ASSERT_FALSE(forbidden);
  EXPECT_THAT(forbidden.error().message, HasSubstr("tokenreviews: 403 it is forbidden"));
  EXPECT_THAT(forbidden.error().hint, HasSubstr("right to create tokenreviews"));
  EXPECT_THAT(forbidden.error().message + forbidden.error().hint, Not(HasSubstr("good")));
  api.status_of_failures = 0;
  EXPECT_FALSE(review_access(api, {Secret("good"), "", "/metrics"}));
}

}  // namespace
}  // namespace cronlatch::op
