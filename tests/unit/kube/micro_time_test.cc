// SPDX-License-Identifier: Apache-2.0
#include "kube/micro_time.h"

#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

TEST(MicroTime, HasMicroseconds) {
  EXPECT_EQ(micro_time({1'763'690'000'000'042}), "2025-11-21T01:53:20.000042Z");
  EXPECT_EQ(micro_time({999'999}), "1970-01-01T00:00:00.999999Z");
}

}  // namespace
}  // namespace cronlatch::kube
