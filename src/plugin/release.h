// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch release`: carries out what release_plan.h plans: creates the Job, waits for
// its end, shows what it said, removes it.
#pragma once

#include "plugin/commands.h"

namespace cronlatch::plugin {

// Without --force an error says what would be done, as `cronlatch release` does.
Result<Page> release(const Arguments& arguments, const Surroundings& around);

}  // namespace cronlatch::plugin
