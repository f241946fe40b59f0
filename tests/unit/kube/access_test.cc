// SPDX-License-Identifier: Apache-2.0
#include "kube/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/program.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::ScratchDir;
using ::testing::HasSubstr;

// The files of a service account.
struct ServiceAccount {
  ScratchDir dir;
  ServiceAccount() {
    std::ofstream(dir.path("ca.crt")) << "ca";
    std::ofstream(dir.path("token")) << "token";
  }
};

TEST(InCluster, ReadsHostPortAndFiles) {
  const ServiceAccount account;

  const auto access = in_cluster_access("10.0.0.1", "443", account.dir.path());

  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:443");
  EXPECT_EQ(access->token_file, account.dir.path() + "/token");
}

TEST(InCluster, UsesANameForAnIpv6Address) {
  const ServiceAccount account;

  EXPECT_EQ(in_cluster_access("fd00:10:96::1", "443", account.dir.path())->server,
            "https://kubernetes.default.svc:443");
}

TEST(InCluster, ReportsWhatIsMissing) {
  const ScratchDir dir;
  EXPECT_THAT(in_cluster_access("", "", dir.path()).error().message, HasSubstr("not in a pod"));
  EXPECT_THAT(in_cluster_access("10.0.0.1", "443", dir.path()).error().message,
              HasSubstr("ca.crt"));
}

}  // namespace
}  // namespace cronlatch::kube
