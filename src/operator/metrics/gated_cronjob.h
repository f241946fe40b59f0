// SPDX-License-Identifier: Apache-2.0
// GatedCronJob: the facts about a CronJob that requests a lock, for the exporter.
#pragma once

#include <string>

#include "base/time.h"

namespace cronlatch::op {

struct GatedCronJob {
  std::string lock;       // its name in the store
  Millis alert_after{0};  // the longest time without a success; zero: from the schedule
  WallTime created{};
  std::string schedule{};   // empty: never overdue (suspended, or alert-after is "off")
  std::string time_zone{};  // of spec.timeZone; empty: that of the schedule, else UTC
  WallTime resumed{};       // the last change of spec.suspend; zero: not known
  WallTime gated{};         // it requests the lock since then, or longer; zero: not known
  bool operator==(const GatedCronJob&) const = default;
};

}  // namespace cronlatch::op
