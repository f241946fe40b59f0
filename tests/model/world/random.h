// SPDX-License-Identifier: Apache-2.0
// Random: the source of all random numbers in a schedule. A seed gives the same schedule on every
// machine.
#pragma once

#include <cstdint>

namespace cronlatch::model {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // A whole number from lo to hi, inclusive.
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  bool percent(std::int64_t p) { return between(1, 100) <= p; }

 private:
  std::uint64_t state_;
};

}  // namespace cronlatch::model
