// SPDX-License-Identifier: Apache-2.0
#include "kube/overload.h"

#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

using namespace std::chrono_literals;

TEST(Overload, PausesForTheNamedTimeAndARandomPart) {
  const auto pause = [](int status, Millis retry_after, double random) {
    return overload_pause({status, {}, retry_after}, [=] { return random; });
  };
  EXPECT_EQ(pause(429, 4s, 0), 4s);
  EXPECT_EQ(pause(503, 4s, 0.5), 5s);
  EXPECT_EQ(pause(429, 0s, 0), 1s);
  EXPECT_EQ(pause(429, 1h, 0.9), kMaxOverloadPause);
  EXPECT_EQ(pause(503, 0s, 0), 0s);  // of an unavailable aggregated API: it may last
  EXPECT_EQ(pause(500, 4s, 0), 0s);
  EXPECT_EQ(pause(200, 4s, 0), 0s);
}

}  // namespace
}  // namespace cronlatch::kube
