// SPDX-License-Identifier: Apache-2.0
// The part of `why` for a scheduled time without a Job. Pure.
#pragma once

#include <cstdint>

#include "plugin/why.h"

namespace cronlatch::plugin {

// The CronJob controller handles each CronJob within seconds; a Job is missing only after that. In
// microseconds.
inline constexpr std::int64_t kControllerDelay = 20'000'000;

// REQUIRES: no Job was created for `due`, and kControllerDelay has passed since.
RunFinding missing_job(const Cluster& cluster, const CronJob& cronjob, WallTime due);

}  // namespace cronlatch::plugin
