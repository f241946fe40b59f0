// SPDX-License-Identifier: Apache-2.0
// Where a pod may run, and what is forgotten first.
#include "image/platform.h"

#include <gtest/gtest.h>

#include "base/lru.h"

namespace cronlatch::image {
namespace {

using kube::Json;
using Names = std::vector<std::string>;

Json selector(const char* arch) { return {{"nodeSelector", {{"kubernetes.io/arch", arch}}}}; }

Json expression(const char* operation, const Names& values,
                const char* key = "kubernetes.io/arch") {
  return {{"key", key}, {"operator", operation}, {"values", values}};
}

Json affinity(const std::vector<std::vector<Json>>& terms) {
  Json list = Json::array();
  for (const auto& term : terms) list.push_back({{"matchExpressions", term}});
  return {
      {"affinity",
       {{"nodeAffinity",
         {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", list}}}}}}}};
}

const Names kBoth = {"amd64", "arm64"};

TEST(Architectures, AreTheClusterSWhereThePodSaysNothing) {
  EXPECT_EQ(architectures(Json::object(), kBoth), kBoth);
  EXPECT_EQ(architectures({{"nodeSelector", {{"disk", "ssd"}}}}, kBoth), kBoth);
}

TEST(Architectures, FollowTheNodeSelector) {
  EXPECT_EQ(architectures(selector("arm64"), kBoth), Names{"arm64"});
  EXPECT_EQ(architectures(selector("s390x"), kBoth), Names{"s390x"});
}

TEST(Architectures, FollowRequiredAffinity) {
  EXPECT_EQ(architectures(affinity({{expression("In", {"arm64", "s390x"})}}), kBoth),
            (Names{"arm64", "s390x"}));
  EXPECT_EQ(architectures(affinity({{expression("NotIn", {"arm64"})}}), kBoth), Names{"amd64"});
  EXPECT_EQ(
      architectures(affinity({{expression("In", {"amd64"})}, {expression("In", {"arm64"})}}), {}),
      kBoth);
  EXPECT_EQ(architectures(
                affinity({{expression("In", {"amd64", "arm64"}), expression("NotIn", {"amd64"})}}),
                kBoth),
            Names{"arm64"});
}

TEST(Architectures, AreNotNarrowedByATermThatDoesNotSpeakOfThem) {
  EXPECT_EQ(
      architectures(affinity({{expression("In", {"arm64"})}, {expression("In", {"x"}, "zone")}}),
                    kBoth),
      kBoth);
}

TEST(Architectures, AreNoneWhereSelectorAndAffinityExcludeEachOther) {
  Json pod = selector("arm64");
  pod.update(affinity({{expression("In", {"amd64"})}}));

  EXPECT_EQ(architectures(pod, kBoth), Names{});
}

TEST(Lru, ForgetsWhatWasAskedForTheLongestTimeAgo) {
  Lru<int> lru(2);
  lru.put("a", 1);
  lru.put("b", 2);
  ASSERT_NE(lru.find("a"), nullptr);
  lru.put("c", 3);

  EXPECT_EQ(lru.find("b"), nullptr);
  ASSERT_NE(lru.find("a"), nullptr);
  EXPECT_EQ(*lru.find("a"), 1);
  EXPECT_EQ(lru.size(), 2U);
}

TEST(Lru, ReplacesWithoutGrowing) {
  Lru<int> lru(2);
  lru.put("a", 1);
  lru.put("a", 5);

  EXPECT_EQ(*lru.find("a"), 5);
  EXPECT_EQ(lru.size(), 1U);
}

}  // namespace
}  // namespace cronlatch::image
