// SPDX-License-Identifier: Apache-2.0
#include "kube/image_volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

using ::testing::HasSubstr;

Json node(const std::string& kubelet, const std::string& runtime) {
  return {{"metadata", {{"name", "n1"}}},
          {"status",
           {{"nodeInfo",
             {{"kubeletVersion", kubelet},
              {"containerRuntimeVersion", runtime},
              {"operatingSystem", "linux"}}}}}};
}

TEST(ImageVolumes, AreProvenByTheVersionsOfKubeletAndContainerd) {
  for (const char* const kubelet : {"v1.36.0", "v1.36.3-gke.100", "v1.40.1+k3s1", "v2.0.0"})
    for (const char* const runtime :
         {"containerd://2.3.0", "containerd://2.3.2-k3s1", "containerd://v2.10.0"})
      EXPECT_EQ(why_no_image_volumes(node(kubelet, runtime)), "") << kubelet << runtime;
}

TEST(ImageVolumes, AreNotProvenByAnOlderKubelet) {
  for (const char* const kubelet : {"v1.35.9", "v1.30.14", "v0.99.0", "", "v1", "1.x", "v1.-1.0"})
    EXPECT_THAT(why_no_image_volumes(node(kubelet, "containerd://2.3.0")),
                HasSubstr("older than 1.36"))
        << kubelet;
}

TEST(ImageVolumes, AreNotProvenByAnotherRuntime) {
  for (const char* const runtime :
       {"containerd://2.2.9", "containerd://1.7.30", "cri-o://1.36.0", "docker://29.6.2", "2.3.0",
        "containerd://", "containerd://unknown", ""})
    EXPECT_THAT(why_no_image_volumes(node("v1.36.0", runtime)), HasSubstr("container runtime"))
        << runtime;
}

TEST(ImageVolumes, NeedNoProofWhereNoGatedPodRuns) {
  Json unschedulable = node("v1.30.0", "containerd://1.6.20");
  unschedulable["spec"]["unschedulable"] = true;
  EXPECT_EQ(why_no_image_volumes(unschedulable), "");
  Json windows = node("v1.30.0", "containerd://1.6.20");
  windows["status"]["nodeInfo"]["operatingSystem"] = "windows";
  EXPECT_EQ(why_no_image_volumes(windows), "");
}

}  // namespace
}  // namespace cronlatch::kube
