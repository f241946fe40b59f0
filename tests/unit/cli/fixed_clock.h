// SPDX-License-Identifier: Apache-2.0
// A clock that stands still, for what only wants to say when.
#pragma once

#include "base/time.h"

namespace cronlatch {

class FixedClock : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Micros(5'000'000)); }
  WallTime wall() const override { return {1'763'690'000'000'000}; }
};

}  // namespace cronlatch
