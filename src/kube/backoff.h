// SPDX-License-Identifier: Apache-2.0
// Backoff: the wait before the next request to an API server that returned an error. It doubles
// from 800 ms to 30 s, with a random part so that replicas do not retry at the same time.
#pragma once

#include <algorithm>
#include <functional>

#include "base/time.h"

namespace cronlatch::kube {

// A number in [0, 1).
using RandomFraction = std::function<double()>;

class Backoff {
 public:
  static constexpr Millis kInitial{800};
  static constexpr Millis kMax{30'000};

  Millis next(const RandomFraction& random_fraction) {
    const double wait = static_cast<double>(base_.count()) * (1 + random_fraction() / 2);
    base_ = std::min(base_ * 2, kMax);
    return std::min(Millis(static_cast<Millis::rep>(wait)), kMax);
  }
  void reset() { base_ = kInitial; }

 private:
  Millis base_ = kInitial;
};

}  // namespace cronlatch::kube
