// SPDX-License-Identifier: Apache-2.0
// BootTimer: a descriptor that becomes readable at a TimePoint, also after a suspend of the host.
// (The timeout of ppoll uses CLOCK_MONOTONIC, which does not count suspend.)
#pragma once

#include <optional>

#include "base/fd.h"
#include "base/time.h"

namespace cronlatch {

class BootTimer {
 public:
  BootTimer();
  int fd() const { return fd_.get(); }  // -1 where the kernel has no such timer
  void set(std::optional<TimePoint> when);

 private:
  Fd fd_;
  std::optional<TimePoint> set_for_;
};

}  // namespace cronlatch
