// SPDX-License-Identifier: Apache-2.0
#include "registry/registry_pace.h"

#include <gtest/gtest.h>

#include "support/hand_clock.h"

namespace cronlatch::registry {
namespace {

using cronlatch::testing::HandClock;
using Request = RegistryPace::Request;

// How long the next request waits, in steps of 10 ms.
Millis wait_of(RegistryPace& pace, HandClock& clock, Millis retry_after = Millis(0)) {
  pace.failed("r.example", Request::head, "limited", retry_after);
  Millis waited{0};
  while (pace.reason_to_wait("r.example")) {
    clock.pass(Millis(10));
    waited += Millis(10);
  }
  return waited;
}

TEST(RegistryPace, APauseIsShorterByAtMostHalfOfItAtRandom) {
  for (const double random : {0.0, 0.5, 1.0}) {
    HandClock clock;
    RegistryPace pace(clock, [random] { return random; });
    const auto of = [random](int milliseconds) {
      return Millis(static_cast<Millis::rep>(milliseconds * (1 - random / 2)));
    };
    EXPECT_EQ(wait_of(pace, clock), of(10'000)) << random;
    EXPECT_EQ(wait_of(pace, clock), of(20'000)) << random;
  }
}

TEST(RegistryPace, ARequestedPauseIsLongerByAtMostATenthOfItAtRandom) {
  for (const double random : {0.0, 0.5, 1.0}) {
    HandClock clock;
    RegistryPace pace(clock, [random] { return random; });
    EXPECT_EQ(wait_of(pace, clock, Millis(100'000)),
              Millis(static_cast<Millis::rep>(100'000 * (1 + random / 10))))
        << random;
  }
}

TEST(RegistryPace, EachPauseHasItsOwnRandomPart) {
  HandClock clock;
  double next = 0.0;
  RegistryPace pace(clock, [&next] { return next; });
  EXPECT_EQ(wait_of(pace, clock), Millis(10'000));
  next = 1.0;
  EXPECT_EQ(wait_of(pace, clock), Millis(10'000));  // half of 20 s
}

TEST(RegistryPace, AnAnswerToHeadEndsOnlyThePauseOfAHead) {
  for (const Request failed : {Request::head, Request::get}) {
    HandClock clock;
    RegistryPace pace(clock, [] { return 0.0; });
    pace.failed("r.example", failed, "limited", Millis(0));

    pace.answered("r.example", Request::head);
    EXPECT_EQ(pace.reason_to_wait("r.example").has_value(), failed == Request::get);

    pace.answered("r.example", Request::get);
    EXPECT_FALSE(pace.reason_to_wait("r.example"));
  }
}

// A failed HEAD during the pauses of GET does not make a later HEAD end them.
TEST(RegistryPace, OnlyAGetEndsThePausesOfGet) {
  HandClock clock;
  RegistryPace pace(clock, [] { return 0.0; });
  pace.failed("r.example", Request::get, "limited", Millis(0));
  pace.failed("r.example", Request::head, "down", Millis(0));

  pace.answered("r.example", Request::head);

  EXPECT_TRUE(pace.reason_to_wait("r.example"));
}

}  // namespace
}  // namespace cronlatch::registry
