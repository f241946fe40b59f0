// SPDX-License-Identifier: Apache-2.0
// RateBudget: how many actions untrusted clients may cause per minute. One client cannot use more
// than a quarter of it. Pure. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/lru.h"
#include "base/time.h"

namespace cronlatch {

class RateBudget {
 public:
  // `per_minute` for all keys together, and a quarter of it, but at least 1, for each. What was not
  // used in one minute is kept.
  explicit RateBudget(double per_minute)
      : total_{per_minute}, per_minute_(per_minute), keys_(kMaxKeys) {}

  // Counts one action of this client; false, and not counted: the budget is used up.
  bool take(const std::string& key, TimePoint now) {
    Bucket* bucket = keys_.find(key);
    if (bucket == nullptr) bucket = &keys_.put(key, Bucket{share(), now});
    refill(*bucket, share(), now);
    refill(total_, per_minute_, now);
    if (bucket->left < 1 || total_.left < 1) return false;
    bucket->left -= 1;
    total_.left -= 1;
    return true;
  }

 private:
  static constexpr std::size_t kMaxKeys = 1'000;
  struct Bucket {
    double left = 0;
    TimePoint at{};
  };
  double share() const { return std::max(1.0, per_minute_ / 4); }
  static void refill(Bucket& bucket, double per_minute, TimePoint now) {
    const double minutes = std::chrono::duration<double>(now - bucket.at).count() / 60;
    bucket.left = std::min(per_minute, bucket.left + per_minute * minutes);
    bucket.at = now;
  }

  Bucket total_;
  const double per_minute_;
  Lru<Bucket> keys_;
};

}  // namespace cronlatch
