// SPDX-License-Identifier: Apache-2.0
// LockDemand: what a CronJob asks for its Jobs, and since when: for Jobs that do not carry it.
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
  Annotations annotations;            // what its Jobs carry once everything is copied
  std::optional<WallTime> annotated;  // since when the lock is written in one of its three places
  bool selected = false;              // `select` asks for it, too

  // Nothing: not known.
  std::optional<WallTime> since(const InForce& in_force) const {
    if (!selected) return annotated;
    return annotated ? std::min(*annotated, in_force.select) : in_force.select;
  }
};

}  // namespace cronlatch::op
