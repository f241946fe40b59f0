// SPDX-License-Identifier: Apache-2.0
// The limit of redirections: two nodes that name each other do not keep a run busy.
#include "store/redis/cluster_route.h"

#include <gtest/gtest.h>

#include <string>

namespace cronlatch::redis {
namespace {

class ClusterRedirections : public ::testing::TestWithParam<const char*> {
 protected:
  // How many redirections are followed without a pause.
  std::size_t followed_at_once() {
    for (std::size_t n = 0; n < 100; ++n) {
      const auto retry = route.after_error(std::string(GetParam()) + " 1 10.0.0.1:6381");
      if (!retry) return n;
      if (retry->pause > Millis(0)) return n;
    }
    return 100;
  }
  ClusterRoute route{{{"10.0.0.1", 6379}}};
};

TEST_P(ClusterRedirections, AreFollowedFiveTimesWithoutAPause) {
  route.reset();
  EXPECT_EQ(followed_at_once(), 5u);
  EXPECT_EQ(followed_at_once(), 5u) << "a pause is followed by five more";
  route.reset();
  EXPECT_EQ(followed_at_once(), 5u) << "each request has five";
}

TEST_P(ClusterRedirections, ArePausedLongerEachTime) {
  Millis last{0};
  for (int i = 0; i < 4; ++i) {
    std::optional<Retry> retry;
    for (std::size_t n = 0; n <= kMaxRedirections; ++n)
      retry = route.after_error(std::string(GetParam()) + " 1 10.0.0.1:6381");
    ASSERT_TRUE(retry);
    EXPECT_GT(retry->pause, last);
    last = retry->pause;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ClusterRedirections, ::testing::Values("MOVED", "ASK"));

}  // namespace
}  // namespace cronlatch::redis
