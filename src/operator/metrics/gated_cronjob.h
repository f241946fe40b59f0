// SPDX-License-Identifier: Apache-2.0
// GatedCronJob: what the exporter must know of a CronJob that asks for a lock.
#pragma once

#include <string>

#include "base/time.h"

namespace cronlatch::op {

struct GatedCronJob {
  std::string lock;       // in the store
  Millis alert_after{0};  // zero: none
  WallTime created{};
  bool operator==(const GatedCronJob&) const = default;
};

}  // namespace cronlatch::op
