// SPDX-License-Identifier: Apache-2.0
#include "admission/job_view.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using kube::Json;
using Words = std::vector<std::string>;

TEST(OwningCronJob, IsTheOwnerOfKindCronJob) {
  const auto owned_by = [](const char* version, const char* kind) {
    return owning_cronjob(
        {{"metadata",
          {{"ownerReferences",
            Json::array({{{"apiVersion", version}, {"kind", kind}, {"name", "n"}}})}}}});
  };
  EXPECT_EQ(owned_by("batch/v1", "CronJob"), "n");
  EXPECT_EQ(owned_by("batch/v1", "Job"), "");
  EXPECT_EQ(owned_by("other.io/v1", "CronJob"), "");
  EXPECT_EQ(owning_cronjob(Json::object()), "");
}

const Json kJob = Json::parse(R"({
  "metadata": {"annotations": {
    "cronlatch.dev/lock": "nightly", "cronlatch.dev/ttl": 5, "other": "x",
    "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-11-21T02:00:00Z"}},
  "spec": {
    "parallelism": 2, "completions": 3, "completionMode": "Indexed", "ttlSecondsAfterFinished": 0, "manualSelector": true,
    "activeDeadlineSeconds": 60,
    "template": {
      "metadata": {"annotations": {
        "cronlatch.dev/ttl": "1m", "kubectl.kubernetes.io/default-container": "work"}},
      "spec": {
        "activeDeadlineSeconds": 30, "terminationGracePeriodSeconds": 7,
        "hostNetwork": true, "dnsPolicy": "Default",
        "os": {"name": "linux"}, "nodeSelector": {"kubernetes.io/os": "linux"},
        "initContainers": [{"name": "proxy", "restartPolicy": "Always"}],
        "containers": [
          7,
          {"name": "work", "image": "pg:16", "command": ["a", 1, "b"], "args": ["c"],
           "terminationMessagePath": "/m",
           "volumeMounts": [{"name": "a", "mountPath": "/a"}],
           "lifecycle": {"postStart": {}}, "livenessProbe": {}, "startupProbe": null,
           "restartPolicyRules": [
             {"action": "Restart", "exitCodes": {"operator": "In", "values": [3, "x"]}}]}]}}}})");

TEST(JobView, HasTheFieldsOfTheJob) {
  const JobView view = parse_job(kJob, {"spec.jobTemplate.", "demo", "nightly"});
  EXPECT_EQ(view.origin.cronjob, "nightly");
  EXPECT_EQ(view.annotations,
            (AnnotationValues{{"cronlatch.dev/lock", "nightly"}, {"cronlatch.dev/ttl", {}}}));
  EXPECT_EQ(view.pod_annotations, (AnnotationValues{{"cronlatch.dev/ttl", "1m"}}));
  EXPECT_EQ(view.scheduled_timestamp, "2026-11-21T02:00:00Z");
  EXPECT_EQ(view.parallelism, 2);
  EXPECT_EQ(view.completions, 3);
  EXPECT_TRUE(view.has_several_pods());
  EXPECT_TRUE(view.has_indexed_pods());
  EXPECT_EQ(view.ttl_seconds_after_finished, 0);
  EXPECT_TRUE(view.manual_selector);
  EXPECT_EQ(view.active_deadline, Millis(30'000));
  EXPECT_EQ(view.default_container, "work");
  EXPECT_TRUE(view.windows_fields.empty());
  EXPECT_TRUE(view.host_network);
  EXPECT_EQ(view.dns_policy, "Default");
  EXPECT_EQ(view.termination_grace_period_seconds, 7);
  EXPECT_EQ(view.container_path(1), "spec.jobTemplate.spec.template.spec.containers[1]");
}

TEST(JobView, HasTheFieldsOfItsContainers) {
  const JobView view = parse_job(kJob, {});
  ASSERT_EQ(view.containers.size(), 2U);  // the indexes are those of the Job
  EXPECT_EQ(index_of_name(view.containers, "work"), 1U);
  EXPECT_EQ(index_of_name(view.containers, "none"), std::nullopt);
  const ContainerView& work = view.containers[1];
  EXPECT_EQ(work.image, "pg:16");
  EXPECT_EQ(work.argv(), (Words{"a", "b", "c"}));
  EXPECT_TRUE(work.has_args);
  EXPECT_EQ(work.termination_message_path, "/m");
  ASSERT_EQ(work.volume_mounts.size(), 1U);
  EXPECT_EQ(work.volume_mounts[0].mount_path, "/a");
  EXPECT_TRUE(work.has_post_start);
  EXPECT_TRUE(work.has_liveness_probe);
  EXPECT_FALSE(work.has_startup_probe);
  ASSERT_EQ(work.restart_rules.size(), 1U);
  EXPECT_TRUE(work.restart_rules[0].restarts_after(3));
  EXPECT_FALSE(work.restart_rules[0].restarts_after(4));
  EXPECT_EQ(view.init_containers.at(0).restart_policy, "Always");
}

// What the API server would reject counts as absent.
TEST(JobView, ToleratesWrongTypesInEveryField) {
  for (const Json& wrong : {Json(nullptr), Json(true), Json(7), Json("x"), Json::array({1}),
                            Json::object({{"x", 1}})}) {
    const std::vector<Json> paths = [] {
      std::vector<Json> all;
      const Json flat = kJob.flatten();
      for (const auto& [pointer, value] : flat.items()) all.push_back(pointer);
      return all;
    }();
    for (const Json& pointer : paths) {
      // The value itself, and each object or array above it.
      Json::json_pointer at(pointer.get<std::string>());
      while (true) {
        Json job = kJob;
        job[at] = wrong;
        const JobView view = parse_job(job, {});
        EXPECT_LE(view.containers.size(), 2U) << at.to_string();
        if (at.empty()) break;
        at.pop_back();
      }
    }
  }
}

}  // namespace
}  // namespace cronlatch::op
