// SPDX-License-Identifier: Apache-2.0
// LookupBudget: how many lookups admission reviews may start for images that no CronJob in the API
// server needs. Anybody who reaches the port can send such a review, in the name of any namespace.
// Pure.
#pragma once

#include <algorithm>
#include <string>

#include "base/lru.h"
#include "base/time.h"

namespace cronlatch::registry {

class LookupBudget {
 public:
  // `per_minute` for all namespaces, and a quarter of it for each. Unused lookups of one minute are
  // kept.
  explicit LookupBudget(std::size_t per_minute)
      : total_{static_cast<double>(per_minute)},
        per_minute_(static_cast<double>(per_minute)),
        namespaces_(kNamespaces) {}

  // Counts one lookup; false, and not counted: the budget is used up.
  bool take(const std::string& namespace_name, TimePoint now) {
    Bucket* bucket = namespaces_.find(namespace_name);
    if (bucket == nullptr) bucket = &namespaces_.put(namespace_name, Bucket{share(), now});
    refill(*bucket, share(), now);
    refill(total_, per_minute_, now);
    if (bucket->left < 1 || total_.left < 1) return false;
    bucket->left -= 1;
    total_.left -= 1;
    return true;
  }

 private:
  static constexpr std::size_t kNamespaces = 1'000;
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
  Lru<Bucket> namespaces_;
};

}  // namespace cronlatch::registry
