// SPDX-License-Identifier: Apache-2.0
// The host's clocks: the boot-time clock for deadlines, the calendar for people.
#pragma once

#include <time.h>

#include "core/time.h"

namespace cronlatch::op {

class HostClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(read(CLOCK_BOOTTIME)); }
  WallTime wall() const override { return {read(CLOCK_REALTIME).count()}; }

 private:
  static Micros read(clockid_t id) {
    timespec t{};
    ::clock_gettime(id, &t);
    return Seconds(t.tv_sec) + Micros(t.tv_nsec / 1000);
  }
};

}  // namespace cronlatch::op
