// SPDX-License-Identifier: Apache-2.0
// Faults: what happens to the clients and the store from outside, at random times.
#pragma once

#include "model/world/client.h"

namespace cronlatch::model {

struct World;

// Starts the first clients and plans the faults of the store.
void begin_schedule(World& world);

}  // namespace cronlatch::model
