// SPDX-License-Identifier: Apache-2.0
// HandClock: a clock that the test sets. Any thread may read it.
#pragma once

#include <atomic>

#include "base/time.h"

namespace cronlatch::testing {

class HandClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Micros(now_)); }
  WallTime wall() const override { return {kStart + now_}; }
  void pass(Micros time) { now_ += time.count(); }

 private:
  static constexpr std::int64_t kStart = 1'763'690'000'000'000;
  std::atomic<std::int64_t> now_{1'000'000};
};

}  // namespace cronlatch::testing
