// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/time.h"

namespace cronlatch {

// A client of the store uses another server than before. Both are "host:port".
struct ServerSwitch {
  std::string before, now;
  WallTime seen{};
};

}  // namespace cronlatch
