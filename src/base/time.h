// SPDX-License-Identifier: Apache-2.0
// The three times of cronlatch, as three types that cannot be mixed:
//   TimePoint   this host's CLOCK_BOOTTIME: every deadline and every lease. It counts suspend and
//   never jumps. ServerTime  the store's clock, microseconds since 1970: every decision of a store.
//   Never compared with ours. WallTime    this host's calendar: for people's eyes only.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace cronlatch {

using Micros = std::chrono::microseconds;
using Millis = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

struct BootClock {  // a tag: nobody can call now() on it; time enters through Clock
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

// Where time comes from: the kernel in programs (base/kernel_clock.h), a number in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual WallTime wall() const = 0;
};

}  // namespace cronlatch
