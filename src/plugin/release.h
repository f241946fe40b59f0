// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch release`: creates the Job of release_plan.h, waits for its end, prints its
// output and deletes it.
#pragma once

#include "plugin/arguments.h"
#include "plugin/context.h"
#include "plugin/output.h"

namespace cronlatch::plugin {

// Without --force it returns an error with the effect, as `cronlatch release`.
Result<Output> release(const Arguments& arguments, const Context& context);

}  // namespace cronlatch::plugin
