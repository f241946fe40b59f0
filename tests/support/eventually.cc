// SPDX-License-Identifier: Apache-2.0
#include "support/eventually.h"

#include <unistd.h>

namespace cronlatch::testing {

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (condition()) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    ::usleep(2'000);
  }
}

}  // namespace cronlatch::testing
