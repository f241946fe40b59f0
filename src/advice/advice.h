// SPDX-License-Identifier: Apache-2.0
// Advice: what the figures of a lock say about its settings. Pure: facts in, advice out, each with
// its reason and with what to set. Silence where a fact is not known.
#pragma once

#include <string>
#include <vector>

#include "advice/lock_use.h"

namespace cronlatch {

struct Advice {
  std::string about;  // ttl, schedule, min-hold, skips, name: a closed list
  std::string job, lock;
  std::string reason;  // what was seen
  std::string set;     // the annotation (which is the option's name, too) or the field to change
};

// Sorted by job, then by what it is about.
std::vector<Advice> advise(const std::vector<LockUse>& uses);

}  // namespace cronlatch
