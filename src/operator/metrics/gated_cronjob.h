// SPDX-License-Identifier: Apache-2.0
// GatedCronJob: the facts about a CronJob that requests a lock, for the exporter.
#pragma once

#include <string>

#include "base/time.h"

namespace cronlatch::op {

struct GatedCronJob {
  std::string lock;       // its name in the store
  Millis alert_after{0};  // zero: none
  WallTime created{};
  bool operator==(const GatedCronJob&) const = default;
};

}  // namespace cronlatch::op
