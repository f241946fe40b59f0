// SPDX-License-Identifier: Apache-2.0
// BootTimer and KernelClock: they mean the same clock.
#include "proc/boot_timer.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "base/kernel_clock.h"

namespace cronlatch {
namespace {

bool readable(const BootTimer& timer, int wait_ms) {
  pollfd fd{timer.fd(), POLLIN, 0};
  return ::poll(&fd, 1, wait_ms) == 1;
}

TEST(BootTimers, BecomeReadableAtTheirTimeAndNotBefore) {
  // Given
  const KernelClock clock;
  BootTimer timer;
  const TimePoint when = clock.now() + Millis(30);
  // When
  timer.set(when);
  // Then
  EXPECT_TRUE(readable(timer, 5'000));
  EXPECT_GE(clock.now(), when);
}

TEST(BootTimers, AreDueAtOnceForATimeInThePast) {
  // Given
  BootTimer timer;
  // When
  timer.set(TimePoint{});
  // Then
  EXPECT_TRUE(readable(timer, 0) || readable(timer, 1'000));
}

TEST(BootTimers, AreQuietAfterTheyWereSetToNever) {
  // Given
  BootTimer timer;
  timer.set(TimePoint{} + Millis(1));
  ASSERT_TRUE(readable(timer, 1'000));
  // When
  timer.set(std::nullopt);
  // Then
  EXPECT_FALSE(readable(timer, 0));
}

}  // namespace
}  // namespace cronlatch
