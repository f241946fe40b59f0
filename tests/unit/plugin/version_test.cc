// SPDX-License-Identifier: Apache-2.0
#include "plugin/version.h"

#include <gtest/gtest.h>

#include "plugin/render.h"
#include "recorded.h"

namespace cronlatch::plugin {
namespace {

struct StillClock final : Clock {
  TimePoint now() const override { return {}; }
  WallTime wall() const override { return recorded_at(); }
};
struct UnusedKubectl final : Kubectl {
  Result<std::vector<KubectlResult>> run(const std::vector<KubectlCall>&) override {
    ADD_FAILURE() << "kubectl was run";
    return Error{Code::system, "no kubectl"};
  }
};

TEST(Version, IsPrintedWithoutACluster) {
  UnusedKubectl kubectl;
  StillClock clock;
  const Result<Output> output = version({}, {kubectl, clock, {}, {}, {}});
  ASSERT_TRUE(output);
  EXPECT_EQ(render(*output, OutputFormat::table), "kubectl-cronlatch " CRONLATCH_VERSION "\n");
  EXPECT_EQ(output->json["plugin"], CRONLATCH_VERSION);
}

}  // namespace
}  // namespace cronlatch::plugin
