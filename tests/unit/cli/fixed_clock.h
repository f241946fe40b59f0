// SPDX-License-Identifier: Apache-2.0
// A clock that always returns the same time.
#pragma once

#include "base/time.h"

namespace cronlatch {

class FixedClock : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Micros(5'000'000)); }
  WallTime wall() const override { return {1'763'690'000'000'000}; }
};

}  // namespace cronlatch
