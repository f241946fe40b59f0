// SPDX-License-Identifier: Apache-2.0
// The verb `release` with recorded results of kubectl: what it creates, and how its Job can end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs_scene.h"

namespace cronlatch::plugin {
namespace {

using ::testing::HasSubstr;

TEST_F(PluginVerbs, ReleaseRefusesAPasswordInTheStore) {
  kubectl.results["--dry-run=server"] = "job.batch/x";
  const auto page = run({"release", "nightly", "-n", "shop", "--dry-run", "--image", "i", "--store",
                         "rediss://u:sesame@h"});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::usage);
  EXPECT_THAT(page.error().message, ::testing::Not(HasSubstr("sesame")));
  EXPECT_TRUE(kubectl.inputs.empty());
}

TEST_F(PluginVerbs, ReleaseWithoutForceNamesTheHolderAndChangesNothing) {
  const auto page = run({"release", "nightly", "-n", "shop"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("shop/nightly-holds-ppx9d"));
  EXPECT_THAT(page.error().hint, HasSubstr("release nightly -n shop --force"));
  EXPECT_TRUE(kubectl.inputs.empty());
}

TEST_F(PluginVerbs, DryRunCreatesNothing) {
  kubectl.results["--dry-run=server"] = "job.batch/x";
  const auto page = run({"release", "nightly", "-n", "shop", "--dry-run"});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(kubectl.calls.back(), "create --dry-run=server -f - -o name");
  EXPECT_THAT(progress, HasSubstr("the API server accepts the Job"));
}

TEST_F(PluginVerbs, ReleaseCreatesAJobWaitsAndPrintsItsOutput) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.results["get job cronlatch-release-abc"] =
      R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})";
  kubectl.results["logs job/cronlatch-release-abc"] = "lock shop/nightly: revoked\n";
  kubectl.results["delete job"] = "";

  const auto page = run({"release", "nightly", "-n", "shop", "--force"});

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->sections.front().lines.front(), "lock shop/nightly: revoked");
  EXPECT_EQ(page->exit_code, 0);
  EXPECT_THAT(kubectl.calls.back(), HasSubstr("delete job cronlatch-release-abc -n shop"));
}

TEST_F(PluginVerbs, ReleaseThatFailsReturnsExitCode1) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.results["get job cronlatch-release-abc"] =
      R"({"status":{"conditions":[{"type":"Failed","status":"True"}]}})";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->exit_code, 1);
}

TEST_F(PluginVerbs, ReleaseReportsAJobWithoutAPod) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  kubectl.results["get job cronlatch-release-abc"] = "{}";
  kubectl.results["batch.kubernetes.io/job-name=cronlatch-release-abc"] = R"({"items":[]})";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, HasSubstr("it has no pod"));
}

TEST_F(PluginVerbs, ReleaseEndsWhenItsJobCannotBeRead) {
  kubectl.results["create -f -"] = "job.batch/cronlatch-release-abc\n";
  const auto page = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::unreachable);
  EXPECT_THAT(page.error().message,
              HasSubstr("its result is unknown: Error from server (NotFound)"));
  EXPECT_LT(clock.t, TimePoint(Seconds(10)));
}

TEST_F(PluginVerbs, ReleaseWithoutAGatedRunRequiresTheImage) {
  kubectl.results["get jobs"] = kubectl.results["get pods"] = R"({"items":[]})";
  const auto refused = run({"release", "nightly", "-n", "shop", "--force"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("--image IMAGE --store URL"));
  kubectl.results["--dry-run=server"] = "job.batch/x";
  EXPECT_TRUE(run(
      {"release", "nightly", "-n", "shop", "--dry-run", "--image", "i", "--store", "redis://r"}));
}

}  // namespace
}  // namespace cronlatch::plugin
