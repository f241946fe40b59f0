// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/object_change.h"

#include <gtest/gtest.h>

#include "leader.h"

namespace cronlatch::op {
namespace {

using kube::Json;
using testing::pod;

Json job(const std::string& condition) {
  return {{"metadata",
           {{"namespace", "demo"},
            {"name", "nightly-2"},
            {"uid", "job-uid"},
            {"ownerReferences", testing::owned_by("CronJob", "nightly", "cronjob-uid")}}},
          {"status", {{"conditions", {{{"type", condition}, {"status", "True"}}}}}}};
}

TEST(ReadChange, ReadsTheRunOfAFinishedPod) {
  const auto change = read_change(ObjectKind::pod, pod("p1", "skipped", "held"));
  ASSERT_TRUE(change && change->pod);
  EXPECT_EQ(change->key.name, "nightly-p1");
  EXPECT_EQ(change->uid, "p1");
  EXPECT_EQ(change->pod->version.uid, "p1");
  EXPECT_EQ(change->pod->run.job.name, "nightly-2");
  EXPECT_TRUE(change->object.is_null());
}

TEST(ReadChange, OmitsAPodThatRuns) {
  Json running = pod("p1", "ran", "none");
  running["status"]["containerStatuses"][0]["state"] = {{"running", Json::object()}};
  EXPECT_FALSE(read_change(ObjectKind::pod, running));
}

// The CronJob of a finished Job is needed for the reports of its pods.
TEST(ReadChange, KeepsOnlyTheCronJobOfAFinishedJob) {
  for (const char* condition : {"Complete", "Failed", "Suspended"}) {
    const auto change = read_change(ObjectKind::job, job(condition));
    ASSERT_TRUE(change);
    EXPECT_EQ(change->uid, "job-uid");
    EXPECT_EQ(change->cronjob.uid, "cronjob-uid");
    EXPECT_EQ(change->object.is_null(), std::string(condition) != "Suspended");
  }
}

}  // namespace
}  // namespace cronlatch::op
