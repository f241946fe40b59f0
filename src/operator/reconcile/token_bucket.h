// SPDX-License-Identifier: Apache-2.0
// TokenBucket: a rate with a burst. Pure.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.h"

namespace cronlatch::op {

struct Rate {
  double per_second;
  double burst;
};

class TokenBucket {
 public:
  bool has_token(const Rate& rate, TimePoint now) {
    const double passed = std::chrono::duration<double>(now - at_).count();
    if (!is_used_)
      tokens_ = rate.burst;
    else
      tokens_ = std::min(rate.burst, tokens_ + std::max(0.0, passed) * rate.per_second);
    is_used_ = true;
    at_ = now;
    return tokens_ >= 1;
  }
  // After has_token().
  void take() { --tokens_; }
  void give_back() { ++tokens_; }

 private:
  double tokens_ = 0;
  TimePoint at_{};
  bool is_used_ = false;
};

}  // namespace cronlatch::op
