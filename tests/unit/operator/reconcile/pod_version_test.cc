// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/pod_version.h"

#include <gtest/gtest.h>

#include "gated_pod.h"

namespace cronlatch::op {
namespace {

using kube::Json;

TEST(PodVersion, ReadsTheWriteOfTheContainerStatuses) {
  Json pod = testing::ended_pod("nightly-1", "pod-uid", "");
  pod["metadata"]["resourceVersion"] = "812345";
  pod["metadata"]["finalizers"] = {"batch.kubernetes.io/job-tracking"};
  const auto entry = [](const char* time, const char* field) {
    return Json{{"manager", "kubelet"},
                {"subresource", "status"},
                {"time", time},
                {"fieldsV1", {{"f:status", {{field, Json::object()}}}}}};
  };
  pod["metadata"]["managedFields"] = {entry("2026-11-21T02:00:09Z", "f:conditions"),
                                      entry("2026-11-21T02:00:05Z", "f:containerStatuses"),
                                      entry("2026-11-21T02:00:04Z", "f:containerStatuses")};

  const PodVersion version = version_of(pod, {7});

  EXPECT_EQ(version.uid, "pod-uid");
  EXPECT_EQ(version.namespace_name, "demo");
  EXPECT_EQ(version.version, 812'345U);
  EXPECT_EQ(version.written.us, 1'795'226'405'000'000);
  EXPECT_EQ(version.finished.us, 7);
  EXPECT_TRUE(version.has_finalizers);
}

TEST(PodVersion, IsZeroForATextThatIsNoNumber) {
  for (const char* text : {"", "x", "12x", "-1", " 1", "99999999999999999999999"})
    EXPECT_EQ(version_number(text), 0U) << text;
  EXPECT_EQ(version_of(Json::object(), {}).version, 0U);
}

}  // namespace
}  // namespace cronlatch::op
