// SPDX-License-Identifier: Apache-2.0
#include "admission/image_needed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/admission_result.h"
#include "admission/review.h"
#include "image/reference.h"
#include "image/registry_policy.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using ::testing::HasSubstr;

Settings platform() {
  Settings settings;
  settings.image = "registry.example/cronlatch:1";
  settings.store = "rediss://redis.example:6379";
  return settings;
}

Json pod_template() {
  return {{"spec", {{"containers", Json::array({{{"name", "main"}, {"image", "pg:16"}}})}}}};
}

Json job() {
  return {
      {"metadata", {{"name", "nightly-1"}, {"annotations", {{"cronlatch.dev/lock", "nightly"}}}}},
      {"spec", {{"template", pod_template()}}}};
}

Json cronjob(const char* lock = "true") {
  return {{"metadata", {{"name", "nightly"}, {"namespace", "demo"}}},
          {"spec",
           {{"schedule", "0 2 * * *"},
            {"jobTemplate",
             {{"metadata", {{"annotations", {{"cronlatch.dev/lock", lock}}}}},
              {"spec", {{"template", pod_template()}}}}}}}};
}

Json response_to(const Json& object, ReviewResponse (*review)(std::string_view, const Settings&,
                                                              const EntrypointSource&)) {
  class Pending final : public EntrypointSource {
   public:
    EntrypointResult find(const EntrypointQuery&) const override {
      return UnknownEntrypoint{"registry \"docker.io\": no response", "", true};
    }
  };
  const Json request = {
      {"request",
       {{"uid", "u"}, {"operation", "CREATE"}, {"namespace", "demo"}, {"object", object}}}};
  return Json::parse(review(kube::to_text(request), platform(), Pending()).body)["response"];
}

TEST(PendingEntrypoint, IsAWarningForTheCronJob) {
  const Json response = response_to(cronjob(), review_cronjob);

  EXPECT_EQ(response["allowed"], true) << response.dump();
  ASSERT_TRUE(response.contains("warnings"));
  EXPECT_THAT(response["warnings"][0].get<std::string>(), HasSubstr("no response"));
}

TEST(UnknownEntrypoint, NamesWhatUserAndPlatformCanDoWithinTheFirst256Bytes) {
  class Unlisted final : public EntrypointSource {
   public:
    EntrypointResult find(const EntrypointQuery&) const override {
      const Status refused = image::RegistryPolicy({}).allows(
          image::parse_reference(std::string(60, 'r') + ".example/a:1").value());
      return UnknownEntrypoint{refused.error().message, refused.error().hint};
    }
  };
  AdmissionRequest request;
  request.object = cronjob();
  request.operation = "CREATE";
  request.namespace_name = "demo";

  const AdmissionResult result = admit_cronjob(request, platform(), Unlisted());

  ASSERT_EQ(result.refusals.size(), 1U);
  EXPECT_LE(result.refusals[0].head().size(), kMaxWarning);
  EXPECT_THAT(result.refusals[0].head(), HasSubstr("user: run kubectl cronlatch entrypoint"));
  EXPECT_THAT(result.refusals[0].head(), HasSubstr("platform: list the registry in entry"));
  EXPECT_THAT(result.message, ::testing::EndsWith("rrr.example\" is not on the list)"));
}

TEST(PendingEntrypoint, HasTheConsequenceAndTheFixBeforeTheTextOfTheRegistry) {
  class Pending final : public EntrypointSource {
   public:
    EntrypointResult find(const EntrypointQuery&) const override {
      return UnknownEntrypoint{"registry \"docker.io\": " + std::string(400, 'x'), "", true};
    }
  };
  AdmissionRequest request;
  request.object = cronjob();
  request.operation = "CREATE";
  request.namespace_name = "demo";

  const AdmissionResult result = admit_cronjob(request, platform(), Pending());

  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_LE(result.warnings[0].head().size(), kMaxWarning);
  EXPECT_THAT(result.warnings[0].head(), HasSubstr("the Jobs of this CronJob are refused"));
  EXPECT_THAT(result.warnings[0].head(), HasSubstr("write cronlatch.dev/command"));
}

TEST(PendingEntrypoint, DeniesTheJob) {
  const Json response = response_to(job(), review_job);

  EXPECT_EQ(response["allowed"], false) << response.dump();
  EXPECT_THAT(response["status"]["message"].get<std::string>(), HasSubstr("no response"));
}

TEST(ImageNeeded, IsThatOfAGatedContainerWithoutCommand) {
  Json needs = cronjob();
  needs["spec"]["jobTemplate"]["spec"]["template"]["spec"]["nodeSelector"] = {{"disk", "ssd"}};
  const auto needed = image_needed(needs, platform());
  ASSERT_TRUE(needed.has_value());
  EXPECT_EQ(needed->image, "pg:16");
  EXPECT_EQ(needed->placement, Json({{"nodeSelector", {{"disk", "ssd"}}}}));

  EXPECT_FALSE(image_needed(cronjob("false"), platform()).has_value());
  needs["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["command"] = {"/k"};
  EXPECT_FALSE(image_needed(needs, platform()).has_value());
  EXPECT_FALSE(image_needed(Json::object(), platform()).has_value());
}

}  // namespace
}  // namespace cronlatch::op
