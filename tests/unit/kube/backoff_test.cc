// SPDX-License-Identifier: Apache-2.0
#include "kube/backoff.h"

#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, NeverExceedsThirtySeconds) {
  Backoff backoff;
  for (int i = 0; i < 20; ++i) {
    const Millis wait = backoff.next([] { return 0.999; });
    EXPECT_GE(wait, 800ms);
    EXPECT_LE(wait, 30s);
  }
}

}  // namespace
}  // namespace cronlatch::kube
