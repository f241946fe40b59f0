// SPDX-License-Identifier: Apache-2.0
#include "plugin/version.h"

#include <gtest/gtest.h>

#include "no_cluster.h"
#include "plugin/render.h"

namespace cronlatch::plugin {
namespace {

TEST(Version, IsPrintedWithoutACluster) {
  NoKubectl kubectl;
  NoClock clock;
  const Result<Output> output = version({}, {kubectl, clock, {}, {}, {}});
  ASSERT_TRUE(output);
  EXPECT_EQ(render(*output, OutputFormat::table), "kubectl-cronlatch " CRONLATCH_VERSION "\n");
  EXPECT_EQ(output->json["plugin"], CRONLATCH_VERSION);
}

}  // namespace
}  // namespace cronlatch::plugin
