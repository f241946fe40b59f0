// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/reported_pods.h"

#include <gtest/gtest.h>

#include <string>

namespace cronlatch::op {
namespace {

TEST(ReportedPods, IsRestoredFromItsCheckpoint) {
  ReportedPods reported;
  reported.add("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", {5'000'000});

  const ReportedPods read(reported.checkpoint());

  EXPECT_TRUE(read.has("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", {5'000'000}));
  EXPECT_FALSE(read.has("0a1b2c3d-4e5f-6072-8293-a4b5c6d7e8f9", {5'000'000}));
}

TEST(ReportedPods, RemembersTheNewestDeletedCronJobs) {
  ReportedPods reported;
  for (int i = 0; i < 300; ++i)
    reported.cronjob_deleted(std::string(253, 'n') + "/" + std::to_string(1'000 + i));
  const std::string checkpoint = reported.checkpoint();

  const ReportedPods read(checkpoint);

  EXPECT_LT(checkpoint.size(), 64U * 1024);
  EXPECT_EQ(read.deleted_cronjobs().size(), ReportedPods::kMaxDeleted);
  EXPECT_EQ(read.deleted_cronjobs().back(), std::string(253, 'n') + "/1299");
}

TEST(ReportedPods, IsEmptyForAnInvalidCheckpoint) {
  for (const char* checkpoint : {"", "garbage", "[]", R"({"before":"x","pods":[1]})"})
    EXPECT_FALSE(ReportedPods(checkpoint).has("uid", {1'000'000})) << checkpoint;
}

TEST(ReportedPods, TreatsPodsOlderThanAllListedAsReported) {
  ReportedPods reported;
  for (int i = 0; i < 300; ++i) reported.add("uid-" + std::to_string(i), {(100 + i) * 1'000'000LL});

  EXPECT_TRUE(reported.has("uid-5", {105'000'000}));
  EXPECT_TRUE(reported.has("uid-299", {399'000'000}));
  EXPECT_FALSE(reported.has("uid-new", {399'000'000}));
}

}  // namespace
}  // namespace cronlatch::op
