// SPDX-License-Identifier: Apache-2.0
// LockDemand: the lock that a CronJob requests for its Jobs, and since when. It is used for Jobs
// that have no annotations.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "admission/annotations.h"
#include "base/time.h"
#include "operator/reconcile/enforcement_times.h"

namespace cronlatch::op {

struct LockDemand {
  std::string cronjob_uid;
  Annotations annotations;            // of its Jobs, after all copies
  std::optional<WallTime> annotated;  // since when one of its three places has the lock
  bool selected = false;              // `select` requests the lock

  // Nothing: unknown.
  std::optional<WallTime> since(const EnforcementTimes& enforcement) const {
    if (!selected) return annotated;
    return annotated ? std::min(*annotated, enforcement.select) : enforcement.select;
  }
};

}  // namespace cronlatch::op
