// SPDX-License-Identifier: Apache-2.0
// A timerfd on CLOCK_BOOTTIME with absolute expiry.
#include "proc/boot_timer.h"

#include <sys/timerfd.h>
#include <time.h>

#include <algorithm>

namespace cronlatch {

BootTimer::BootTimer() : fd_(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)) {}

void BootTimer::set(std::optional<TimePoint> when) {
  if (!fd_ || when == set_for_) return;
  itimerspec spec{};
  if (when) {
    // Zero would disarm the timer.
    const Micros at = std::max(when->time_since_epoch(), Micros(1));
    spec.it_value.tv_sec = static_cast<time_t>(at.count() / 1'000'000);
    spec.it_value.tv_nsec = static_cast<long>(at.count() % 1'000'000) * 1'000;
  }
  // This also clears an expiry that has not been read.
  ::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
  set_for_ = when;
}

}  // namespace cronlatch
