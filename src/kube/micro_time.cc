// SPDX-License-Identifier: Apache-2.0
#include "kube/micro_time.h"

#include <cstdio>

#include "base/rfc3339.h"

namespace cronlatch::kube {

std::string micro_time(WallTime t) {
  constexpr std::int64_t kSecond = 1'000'000;
  const auto micros = static_cast<int>(((t.us % kSecond) + kSecond) % kSecond);
  char fraction[12];
  std::snprintf(fraction, sizeof fraction, ".%06dZ", micros);
  std::string text = rfc3339({t.us - micros});
  text.pop_back();
  return text + fraction;
}

}  // namespace cronlatch::kube
