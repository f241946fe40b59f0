// SPDX-License-Identifier: Apache-2.0
// HostClock: true time times a rate, plus an offset. The rates of any two clocks differ by at most
// 1 % (A2).
#pragma once

#include "base/time.h"
#include "model/rules/facts.h"

namespace cronlatch::model {

struct HostClock {
  double rate = 1.0;
  Us offset = 0;
  TimePoint at(Us true_time) const {
    return TimePoint{} + Micros(offset + static_cast<Us>(static_cast<double>(true_time) * rate));
  }
  // The first true time at which the clock shows at least `t`.
  Us true_at(TimePoint t) const {
    return static_cast<Us>(static_cast<double>(t.time_since_epoch().count() - offset) / rate) + 1;
  }
};

}  // namespace cronlatch::model
