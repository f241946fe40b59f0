// SPDX-License-Identifier: Apache-2.0
// The time of this host, read from the kernel: kBootClock for deadlines, CLOCK_REALTIME for
// display. Functions that decide get a time or a Clock from their caller.
#pragma once

#include <time.h>

#include "base/time.h"

namespace cronlatch {

// A clock that also counts while the host sleeps. On macOS, CLOCK_MONOTONIC does.
#ifdef CLOCK_BOOTTIME
inline constexpr clockid_t kBootClock = CLOCK_BOOTTIME;
#else
inline constexpr clockid_t kBootClock = CLOCK_MONOTONIC;
#endif

inline Micros read_clock(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return Seconds(t.tv_sec) + Micros(t.tv_nsec / 1'000);
}

// For the time of a reply that arrived after the caller's `now`, and for deadlines of blocking
// calls.
inline TimePoint boot_now() { return TimePoint(read_clock(kBootClock)); }
inline WallTime wall_now() { return {read_clock(CLOCK_REALTIME).count()}; }

class KernelClock : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
};

}  // namespace cronlatch
