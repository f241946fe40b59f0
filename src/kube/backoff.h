// SPDX-License-Identifier: Apache-2.0
// Backoff: how long to wait before asking a troubled API server again. From 800 ms doubling to
// 30 s, with chance in it so that replicas do not come back together.
#pragma once

#include <algorithm>
#include <functional>

#include "base/time.h"

namespace cronlatch::kube {

// A number in [0, 1).
using Chance = std::function<double()>;

class Backoff {
 public:
  static constexpr Millis kFirst{800};
  static constexpr Millis kLongest{30'000};

  Millis next(const Chance& chance) {
    const double wait = static_cast<double>(base_.count()) * (1 + chance() / 2);
    base_ = std::min(base_ * 2, kLongest);
    return std::min(Millis(static_cast<Millis::rep>(wait)), kLongest);
  }
  void reset() { base_ = kFirst; }

 private:
  Millis base_ = kFirst;
};

}  // namespace cronlatch::kube
