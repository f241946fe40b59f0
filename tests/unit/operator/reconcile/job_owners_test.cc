// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/job_owners.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

const kube::ObjectRef kNightly{"batch/v1", "CronJob", "demo", "nightly", "u1"};

TEST(JobOwners, FindsTheCronJobUntilTheJobIsDeleted) {
  JobOwners owners;
  owners.set("job-1", kNightly);
  owners.set("job-2", kNightly);
  owners.set("job-2", kNightly);
  owners.set("alone", {});

  ASSERT_NE(owners.find("job-1"), nullptr);
  EXPECT_EQ(*owners.find("job-1"), kNightly);
  ASSERT_NE(owners.find("alone"), nullptr);
  EXPECT_EQ(owners.find("alone")->name, "");
  EXPECT_EQ(owners.find("job-3"), nullptr);

  owners.erase("job-1");
  owners.erase("job-1");
  EXPECT_EQ(owners.find("job-1"), nullptr);
  EXPECT_EQ(owners.find("job-2")->name, "nightly");
  EXPECT_EQ(owners.cronjobs(), 2U);
  owners.erase("job-2");
  EXPECT_EQ(owners.cronjobs(), 1U);
}

}  // namespace
}  // namespace cronlatch::op
