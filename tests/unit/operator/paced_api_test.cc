// SPDX-License-Identifier: Apache-2.0
#include "operator/paced_api.h"

#include <gtest/gtest.h>

#include "support/fake_api.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using cronlatch::testing::FakeApi;
using cronlatch::testing::HandClock;
using namespace std::chrono_literals;

TEST(PacedApi, WaitsBeyondTheBurstForTheRate) {
  FakeApi api;
  HandClock clock;
  Micros waited{0};
  PacedApi paced(api, {.per_second = 100, .burst = 5}, clock, [&](Micros time) {
    waited += time;
    clock.pass(std::chrono::ceil<Millis>(time));
  });

  for (int i = 0; i < 5; ++i) (void)paced.call({.path = "/x"});
  EXPECT_EQ(waited, 0s);
  for (int i = 0; i < 100; ++i) (void)paced.call({.path = "/x"});
  EXPECT_EQ(waited, 1s);

  clock.pass(1min);  // the burst is not larger after a long time
  waited = {};
  for (int i = 0; i < 15; ++i) (void)paced.call({.path = "/x"});
  EXPECT_EQ(waited, 100ms);
  EXPECT_EQ(api.requests().size(), 120U);
}

}  // namespace
}  // namespace cronlatch::op
