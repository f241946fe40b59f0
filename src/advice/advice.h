// SPDX-License-Identifier: Apache-2.0
// Advice: recommended settings, from recorded statistics, each with its reason. Where a fact is not
// available there is no advice. Pure.
#pragma once

#include <string>
#include <vector>

#include "advice/lock_use.h"

namespace cronlatch {

struct Advice {
  std::string about;  // ttl, schedule, min-hold, skips, name: a closed list
  std::string job, lock;
  std::string reason;  // the observation
  std::string set;  // the annotation, whose key is also the option's name, or the field to change
};

// Sorted by job, then by lock and subject.
std::vector<Advice> advise(const std::vector<LockUse>& uses);

}  // namespace cronlatch
