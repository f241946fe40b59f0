// SPDX-License-Identifier: Apache-2.0
// Recorded objects, and untrusted termination messages.
#include "plugin/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/annotations.h"
#include "admission/job_view.h"
#include "admission/user_command.h"
#include "recorded.h"

namespace cronlatch::plugin {
namespace {

using kube::Json;

TEST(Objects, LockOfACronJobComesFromItsAnnotations) {
  const Cluster cluster = recorded();

  const CronJob& nightly = cronjob_of(cluster, "nightly");
  EXPECT_EQ(nightly.lock(), "shop/nightly");
  EXPECT_EQ(nightly.time_zone, "Europe/Berlin");
  EXPECT_TRUE(nightly.job_annotations.contains("lock"));
  EXPECT_FALSE(nightly.has_own_gate());
  EXPECT_EQ(cronjob_of(cluster, "report").lock(), "shop/database");
  EXPECT_TRUE(cronjob_of(cluster, "report").suspended);
  EXPECT_EQ(cronjob_of(cluster, "hourly").starting_deadline, Seconds(200));
}

TEST(Objects, LockOfACronJobWithItsOwnGateComesFromTheCommand) {
  CronJob cronjob;
  cronjob.flags = {{"run", "true"}, {"lock", "_cluster/database"}};

  EXPECT_TRUE(uses_lock(cronjob));
  EXPECT_EQ(cronjob.lock(), "_cluster/database");
}

TEST(Objects, GateBehindTheProgramOfAnotherWebhookIsFound) {
  const Json container = {{"name", "main"},
                          {"command", {"/vault/vault-env"}},
                          {"args",
                           {"/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=shop/nightly",
                            "--", "sh", "-c", "x"}}};
  const Json spec = {{"containers", Json::array({container})}};

  EXPECT_EQ(gate_flags(spec).at("lock"), "shop/nightly");
  const Pod pod = read_pod({{"spec", spec}});
  EXPECT_EQ(pod.container, "main");
  const Job job = read_job({{"spec", {{"template", {{"spec", spec}}}}}});
  EXPECT_TRUE(job.gated);
  EXPECT_EQ(job.command, std::vector<std::string>{"/vault/vault-env"});
  EXPECT_EQ(job.args, (std::vector<std::string>{"sh", "-c", "x"}));
}

TEST(Objects, JobWithParallelismOrCompletionsHasSeveralPods) {
  EXPECT_FALSE(read_job({{"spec", {{"parallelism", 1}, {"completions", 1}}}}).has_several_pods);
  EXPECT_FALSE(read_job(Json::object()).has_several_pods);
  EXPECT_TRUE(read_job({{"spec", {{"parallelism", 2}}}}).has_several_pods);
  EXPECT_TRUE(read_job({{"spec", {{"completions", 2}}}}).has_several_pods);
}

TEST(Objects, StatusPageHasTheHoldersOfSeveralSlots) {
  const auto page = read_status_page(
      R"({"v": 1, "locks": [{"lock": "a", "holder": "h2", "slots": 3,
          "grants": [{"holder": "h1"}, {"holder": "h2"}]}, {"lock": "b", "holder": "h"}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->find("a")->holder_text(), "h1 and 1 other");
  EXPECT_TRUE(page->find("a")->is_held_by("h1"));
  EXPECT_FALSE(page->find("a")->is_held_by("h"));
  EXPECT_EQ(page->find("b")->holder_text(), "h");
  EXPECT_TRUE(page->find("b")->is_held_by("h"));
}

TEST(Objects, AnnotationFalseRequestsNoLock) {
  CronJob cronjob;
  cronjob.annotations["lock"] = "false";
  EXPECT_FALSE(uses_lock(cronjob));
  cronjob.annotations["lock"] = "db";
  cronjob.annotations["lock-scope"] = "cluster";
  EXPECT_EQ(cronjob.lock(), "_cluster/db");
}

TEST(Objects, OutcomeOfAPodComesFromItsTerminationMessage) {
  const Cluster cluster = recorded();
  const auto pods = pods_of(cluster, cronjob_of(cluster, "nightly"));

  ASSERT_EQ(pods.size(), 2u);
  const Pod* const skipped = newest(pods, Kind::skipped);
  ASSERT_NE(skipped, nullptr);
  EXPECT_EQ(skip_reason_of(skipped->result), "held by shop/nightly-holds-ppx9d");
  EXPECT_EQ(skipped->result.until, "2026-11-22T06:23:03Z");
  EXPECT_EQ(skipped->flags.at("lock"), "shop/nightly");
}

}  // namespace
}  // namespace cronlatch::plugin
