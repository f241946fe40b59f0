// SPDX-License-Identifier: Apache-2.0
#include "admission/gated_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/known_sidecars.h"

namespace cronlatch::op {
namespace {

using ::testing::HasSubstr;

ContainerView container(const char* name, const char* image) {
  ContainerView view;
  view.name = name;
  view.image = image;
  return view;
}

std::string fix_for(std::vector<ContainerView> containers) {
  JobView job;
  job.containers = std::move(containers);
  Findings findings;
  EXPECT_EQ(gated_container(job, {}, findings), std::nullopt);
  return findings.list().at(0).fix;
}

TEST(GatedContainer, TheExampleNamesTheWorkAndNotASidecar) {
  EXPECT_THAT(fix_for({container("istio-proxy", "x"), container("report", "r:1")}),
              HasSubstr("\"report\""));
  EXPECT_THAT(fix_for({container("db", "reg:5000/cloud-sql-proxy:2@sha256:0"),
                       container("report", "proxy.example/r:1")}),
              HasSubstr("\"report\""));
  EXPECT_THAT(fix_for({container("a-proxy", "x"), container("b-agent", "x")}),
              HasSubstr("\"a-proxy\""));
}

TEST(KnownSidecars, AreRecognizedByNameOrByImage) {
  EXPECT_TRUE(is_known_sidecar(container("vault-agent", "x")));
  EXPECT_TRUE(is_known_sidecar(container("a", "docker.io/envoyproxy/envoy:v1")));
  EXPECT_FALSE(is_known_sidecar(container("report", "agent.example/reports:proxy")));
}

}  // namespace
}  // namespace cronlatch::op
