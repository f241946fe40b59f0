// SPDX-License-Identifier: Apache-2.0
// The kernel's CLOCK_BOOTTIME, for the two things a caller's `now` cannot do: date an answer that
// arrived after it was read, and let the ledger's blocking calls end in time.
#pragma once

#include <time.h>

#include "core/time.h"

namespace cronlatch::redis {

inline TimePoint boot_now() {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return TimePoint(Seconds(t.tv_sec) + Micros(t.tv_nsec / 1000));
}

}  // namespace cronlatch::redis
