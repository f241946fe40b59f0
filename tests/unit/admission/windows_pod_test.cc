// SPDX-License-Identifier: Apache-2.0
#include "admission/windows_pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

using kube::Json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Json expression(const char* key, const char* operation, const Json& values) {
  return {{"key", key}, {"operator", operation}, {"values", values}};
}

Json with_terms(const std::vector<Json>& terms) {
  Json list = Json::array();
  for (const Json& term : terms)
    list.push_back({{"matchExpressions", Json::array({expression("zone", "In", {"a"}), term})}});
  Json required{{"nodeSelectorTerms", list}};
  return {{"affinity",
           {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", required}}}}}};
}

TEST(WindowsPod, EachFieldThatRequiresAWindowsNodeIsNamed) {
  EXPECT_THAT(windows_fields({{"os", {{"name", "windows"}}}}), SizeIs(1));
  for (const char* label : {"kubernetes.io/os", "beta.kubernetes.io/os"}) {
    EXPECT_THAT(windows_fields({{"nodeSelector", {{label, "windows"}}}}), SizeIs(1));
    EXPECT_THAT(windows_fields({{"nodeSelector", {{label, "linux"}}}}), IsEmpty());
  }
}

TEST(WindowsPod, EveryTermOfTheAffinityMustRequireWindows) {
  const Json windows = expression("kubernetes.io/os", "In", {"windows"});
  EXPECT_THAT(windows_fields(with_terms({windows, windows})), SizeIs(1));

  for (const Json& other :
       {expression("kubernetes.io/os", "In", {"windows", "linux"}),
        expression("kubernetes.io/os", "NotIn", {"windows"}), expression("os", "In", {"windows"})})
    EXPECT_THAT(windows_fields(with_terms({windows, other})), IsEmpty()) << other;
  EXPECT_THAT(windows_fields(with_terms({})), IsEmpty());
  EXPECT_THAT(windows_fields(Json::object()), IsEmpty());
}

}  // namespace
}  // namespace cronlatch::op
