// SPDX-License-Identifier: Apache-2.0
// KernelClock: two calls of clock_gettime.
#include "proc/clock.h"

#include <time.h>

namespace cronlatch {
namespace {

Micros read(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return Seconds(t.tv_sec) +
         std::chrono::duration_cast<Micros>(std::chrono::nanoseconds(t.tv_nsec));
}

}  // namespace

TimePoint KernelClock::now() const { return TimePoint(read(CLOCK_BOOTTIME)); }

WallTime KernelClock::wall() const { return {read(CLOCK_REALTIME).count()}; }

}  // namespace cronlatch
