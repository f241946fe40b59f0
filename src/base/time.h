// SPDX-License-Identifier: Apache-2.0
// The three times of cronlatch, as three types that cannot be mixed:
// * TimePoint: CLOCK_BOOTTIME of this host, for every deadline and lease. It counts suspend and
// never
//   jumps.
// * ServerTime: the store's clock, microseconds since 1970, for every decision of a store. It is
//   never compared with a clock of this host.
// * WallTime: CLOCK_REALTIME of this host, for display only.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace cronlatch {

using Micros = std::chrono::microseconds;
using Millis = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

struct BootClock {  // a tag without now(); time comes from Clock
  using duration = Micros;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};
using TimePoint = BootClock::time_point;

struct ServerTime {
  std::int64_t us = 0;
  auto operator<=>(const ServerTime&) const = default;
  friend ServerTime operator+(ServerTime t, Micros d) { return {t.us + d.count()}; }
  friend ServerTime operator-(ServerTime t, Micros d) { return {t.us - d.count()}; }
  friend Micros operator-(ServerTime a, ServerTime b) { return Micros(a.us - b.us); }
};

struct WallTime {
  std::int64_t us = 0;
  auto operator<=>(const WallTime&) const = default;
};

// The source of time: the kernel in programs (base/kernel_clock.h), a number in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual WallTime wall() const = 0;
};

}  // namespace cronlatch
