// SPDX-License-Identifier: Apache-2.0
// ppoll over a PollSet, for the two places that have no loop around them: the ledger's blocking
// calls, and a look at an idle connection.
#pragma once

#include "core/store.h"

namespace cronlatch::redis {

// Waits until one of the descriptors is ready or the set's deadline has come; fills in `ready`.
void wait_for_events(PollSet& set);

}  // namespace cronlatch::redis
