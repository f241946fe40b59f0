// SPDX-License-Identifier: Apache-2.0
// ppoll on a PollSet, for the two callers without an event loop: the blocking calls of LockStats,
// and the check of an idle connection.
#pragma once

#include "core/store.h"

namespace cronlatch::redis {

// Waits until a descriptor is ready or the set's deadline has passed; sets `ready`.
void wait_for_events(PollSet& set);

}  // namespace cronlatch::redis
