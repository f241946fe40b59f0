// SPDX-License-Identifier: Apache-2.0
// The AdmissionReview around a decision; tests/golden has the decisions.
#include "admission/review.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using kube::Json;

Settings platform() {
  Settings settings;
  settings.image = "cronlatch:1";
  settings.store = "redis://redis:6379";
  return settings;
}

Json response(const ReviewResponse& reviewed) {
  const Json body = Json::parse(reviewed.body);
  EXPECT_EQ(body["apiVersion"], "admission.k8s.io/v1");
  EXPECT_EQ(body["kind"], "AdmissionReview");
  return body["response"];
}

TEST(Review, AnswersEveryInput) {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"request":null})",
                           R"({"request":{"object":"x"}})", R"({"request":{},"request":{}})"}) {
    const ReviewResponse reviewed = review_job(text, platform());
    EXPECT_EQ(reviewed.result, "error") << text;
    EXPECT_EQ(reviewed.resource, "job");
    EXPECT_EQ(response(reviewed)["allowed"], false);
    EXPECT_EQ(response(reviewed)["status"]["code"], 500);
  }
  EXPECT_EQ(review_cronjob("", platform()).resource, "cronjob");
}

TEST(Review, KeepsTheUidInAnError) {
  EXPECT_EQ(response(review_job(R"({"request":{"uid":"u-1"}})", platform()))["uid"], "u-1");
  const ReviewResponse reviewed =
      review_job(R"({"request":{"uid":"u-2","operation":"CREATE","object":{}}})", platform());
  EXPECT_EQ(reviewed.result, "skipped");
  EXPECT_EQ(response(reviewed)["uid"], "u-2");
}

TEST(Review, DeniesOnlyJobsWithALockWithoutAStore) {
  Settings without = platform();
  without.store.clear();
  const auto result = [&](const std::string& lock) {
    return review_job(R"({"request":{"operation":"CREATE","namespace":"demo","object":{
        "metadata":{"annotations":{"cronlatch.dev/lock":")" +
                          lock + R"("}},
        "spec":{"template":{"spec":{"containers":[{"name":"a","command":["a"]}]}}}}}})",
                      without)
        .result;
  };
  EXPECT_EQ(result("nightly"), "denied");
  EXPECT_EQ(result("false"), "skipped");
}

TEST(Review, AllowsADeletion) {
  const ReviewResponse reviewed = review_cronjob(
      R"({"request":{"uid":"u","operation":"DELETE","object":null,"oldObject":{}}})", platform());
  EXPECT_EQ(reviewed.result, "skipped");
  EXPECT_EQ(response(reviewed)["allowed"], true);
}

TEST(Review, TakesTheNamespaceFromTheRequest) {
  const ReviewResponse reviewed = review_job(
      R"({"request":{"uid":"u","operation":"CREATE","namespace":"demo","dryRun":true,"object":{
           "metadata":{"annotations":{"cronlatch.dev/lock":"x"}},
           "spec":{"template":{"spec":{"containers":[{"name":"a","command":["a"]}]}}}}}})",
      platform());
  EXPECT_EQ(reviewed.result, "mutated");
  EXPECT_EQ(response(reviewed)["patchType"], "JSONPatch");
}

}  // namespace
}  // namespace cronlatch::op
