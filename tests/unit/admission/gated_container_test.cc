// SPDX-License-Identifier: Apache-2.0
#include "admission/gated_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/known_sidecars.h"

namespace cronlatch::op {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ContainerView container(const char* name, const char* image) {
  ContainerView view;
  view.name = name;
  view.image = image;
  return view;
}

Finding finding_for(std::vector<ContainerView> containers, const LockRequest& request = {}) {
  JobView job;
  job.containers = std::move(containers);
  Findings findings;
  EXPECT_EQ(gated_container(job, request, findings), std::nullopt);
  return findings.list().at(0);
}

std::string fix_for(std::vector<ContainerView> containers) {
  return finding_for(std::move(containers)).fix;
}

LockRequest request_for(const char* container) {
  LockRequest request;
  request.container = container;
  return request;
}

TEST(GatedContainer, TheExampleNamesTheWorkAndNotASidecar) {
  EXPECT_THAT(fix_for({container("istio-proxy", "x"), container("report", "r:1")}),
              HasSubstr("\"report\""));
  EXPECT_THAT(fix_for({container("db", "reg:5000/cloud-sql-proxy:2@sha256:0"),
                       container("report", "proxy.example/r:1")}),
              HasSubstr("\"report\""));
}

TEST(GatedContainer, TheExampleNamesNoContainerWhereAllAreKnownAsSidecars) {
  const std::vector<ContainerView> sidecars = {container("a-proxy", "x"),
                                               container("b-agent", "x")};
  for (const Finding& finding :
       {finding_for(sidecars), finding_for(sidecars, request_for("missing"))}) {
    EXPECT_THAT(finding.head(), HasSubstr("\"NAME\", with the container that does the work"));
    EXPECT_THAT(finding.head(), AllOf(Not(HasSubstr("a-proxy")), Not(HasSubstr("b-agent"))));
    EXPECT_THAT(finding.detail, HasSubstr("a-proxy, b-agent"));
    EXPECT_LE(finding.head().size(), kMaxWarning);
  }
  EXPECT_THAT(finding_for(sidecars).what, HasSubstr("the others run without the lock"));
}

TEST(GatedContainer, TheExampleNamesTheOnlyContainerWhateverItsName) {
  EXPECT_THAT(finding_for({container("backup-agent", "x")}, request_for("missing")).fix,
              HasSubstr("\"backup-agent\""));
}

TEST(KnownSidecars, AreRecognizedByNameOrByImage) {
  EXPECT_TRUE(is_known_sidecar(container("vault-agent", "x")));
  EXPECT_TRUE(is_known_sidecar(container("a", "docker.io/envoyproxy/envoy:v1")));
  EXPECT_FALSE(is_known_sidecar(container("report", "agent.example/reports:proxy")));
}

}  // namespace
}  // namespace cronlatch::op
