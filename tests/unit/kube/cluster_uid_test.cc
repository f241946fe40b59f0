// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster_uid.h"

#include <gtest/gtest.h>

#include "support/fake_api.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::FakeApi;

constexpr char kNamespace[] = "/api/v1/namespaces/kube-system";

TEST(ClusterUid, IsTheFirstPartOfTheUidOfKubeSystem) {
  FakeApi api;
  api.put(kNamespace, {{"metadata", {{"uid", "3f0a9c1e-5b7d-4e0f-8a61-0c2d4e6f8a9b"}}}});
  EXPECT_EQ(short_cluster_uid(api).value(), "3f0a9c1e");
}

TEST(ClusterUid, FailsWithTheAnswerOfTheServer) {
  FakeApi api;
  EXPECT_EQ(short_cluster_uid(api).error().message, "404 NotFound");
  api.put(kNamespace, {{"metadata", {{"name", "kube-system"}}}});
  EXPECT_FALSE(short_cluster_uid(api));
  api.put(kNamespace, {{"metadata", {{"uid", "a@b/c\n00000"}}}});
  EXPECT_FALSE(short_cluster_uid(api)) << "it becomes a part of a flag";
}

}  // namespace
}  // namespace cronlatch::kube
