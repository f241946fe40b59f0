// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch uninstall-check`: the CronJobs that request a lock, the effect on their Jobs
// without the operator, and the objects that an uninstall left. `--remove` deletes those objects if
// no CronJob requests a lock.
#pragma once

#include "plugin/arguments.h"
#include "plugin/context.h"
#include "plugin/output.h"
#include "plugin/uninstall_state.h"

namespace cronlatch::plugin {

// The label of every object of cronlatch.
inline constexpr char kPartOfCronlatch[] = "app.kubernetes.io/part-of=cronlatch";

// Exit code 0: no CronJob requests a lock. 1: some do.
Output uninstall_output(const UninstallState& state);

Result<Output> uninstall_check(const Arguments& arguments, const Context& context);

}  // namespace cronlatch::plugin
