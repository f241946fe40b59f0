// SPDX-License-Identifier: Apache-2.0
// The end of LockStats::list() for stores that read several servers.
#pragma once

#include <cstddef>
#include <vector>

#include "core/lock_stats.h"

namespace cronlatch {

// At most `max_locks`, those that were granted last; sorted by name.
void limit_views(std::vector<LockView>& views, std::size_t max_locks);

}  // namespace cronlatch
