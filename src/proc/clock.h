// SPDX-License-Identifier: Apache-2.0
// KernelClock: the time of this host. Deadlines are read from CLOCK_BOOTTIME, which counts suspend
// and is never set; the calendar is read for people only.
#pragma once

#include "core/time.h"

namespace cronlatch {

class KernelClock : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
};

}  // namespace cronlatch
