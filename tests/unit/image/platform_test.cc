// SPDX-License-Identifier: Apache-2.0
// The architectures that a pod can run on.
#include "image/platform.h"

#include <gtest/gtest.h>

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

TEST(Architectures, AreThoseOfTheClusterByDefault) {
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

TEST(Architectures, AreNotRestrictedByATermWithoutArchitectures) {
  EXPECT_EQ(
      architectures(affinity({{expression("In", {"arm64"})}, {expression("In", {"x"}, "zone")}}),
                    kBoth),
      kBoth);
}

TEST(Architectures, AreEmptyWhenSelectorAndAffinityContradictEachOther) {
  Json pod = selector("arm64");
  pod.update(affinity({{expression("In", {"amd64"})}}));

  EXPECT_EQ(architectures(pod, kBoth), Names{});
}

}  // namespace
}  // namespace cronlatch::image
