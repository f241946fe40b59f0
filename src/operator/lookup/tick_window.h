// SPDX-License-Identifier: Apache-2.0
// TickWindow: whether a CronJob is about to create a Job. Pure, but for the database of time zones.
#pragma once

#include <optional>

#include "base/time.h"
#include "cron/cron_schedule.h"
#include "kube/json.h"

namespace cronlatch::op {

class TickWindow {
 public:
  // A suspended CronJob has no scheduled time. If the times are not known (@every, an invalid
  // schedule, a time zone that this machine does not have), every time is near.
  explicit TickWindow(const kube::Json& cronjob);

  // A scheduled time is within `lead` after `now`. `now` must not decrease between two calls.
  bool is_near(WallTime now, Millis lead);

 private:
  enum class Times { none, unknown, by_schedule };
  Times times_ = Times::unknown;
  CronSchedule schedule_;
  Zone zone_;
  std::optional<WallTime> next_;
  bool is_computed_ = false;
};

}  // namespace cronlatch::op
