// SPDX-License-Identifier: Apache-2.0
// The part of `why` for a time at which the CronJob was due and has no Job. Pure.
#pragma once

#include <cstdint>

#include "plugin/why.h"

namespace cronlatch::plugin {

// The controller looks at each CronJob within seconds; before that, a missing Job says nothing.
inline constexpr std::int64_t kPatience = 20'000'000;

// REQUIRES: no Job was made for `due`, which is further back than that.
Finding no_job(const Cluster& cluster, const CronJob& cronjob, WallTime due);

}  // namespace cronlatch::plugin
