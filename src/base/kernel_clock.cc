// SPDX-License-Identifier: Apache-2.0
#include "base/kernel_clock.h"

namespace cronlatch {

TimePoint KernelClock::now() const { return boot_now(); }

WallTime KernelClock::wall() const { return wall_now(); }

}  // namespace cronlatch
