// SPDX-License-Identifier: Apache-2.0
// The time of this host, read from the kernel: CLOCK_BOOTTIME for deadlines, which counts suspend
// and is never set; the calendar for people only. What decides is given a time, or a Clock.
#pragma once

#include <time.h>

#include "base/time.h"

namespace cronlatch {

inline Micros read_clock(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return Seconds(t.tv_sec) + Micros(t.tv_nsec / 1'000);
}

// For what a caller's `now` cannot do: date an answer that arrived after it was read, and let calls
// that block end in time.
inline TimePoint boot_now() { return TimePoint(read_clock(CLOCK_BOOTTIME)); }
inline WallTime wall_now() { return {read_clock(CLOCK_REALTIME).count()}; }

class KernelClock : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
};

}  // namespace cronlatch
