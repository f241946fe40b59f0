// SPDX-License-Identifier: Apache-2.0
// `kubectl cronlatch uninstall-check`: which CronJobs ask for a lock, what becomes of their Jobs
// without the operator, and what an uninstall has left behind. `--remove` deletes what was left
// behind once no CronJob asks for a lock.
#pragma once

#include "plugin/commands.h"
#include "plugin/uninstall_state.h"

namespace cronlatch::plugin {

// Exit code 0: no CronJob asks for a lock. 1: some do.
Page uninstall_page(const UninstallState& state);

Result<Page> uninstall_check(const Arguments& arguments, const Surroundings& around);

}  // namespace cronlatch::plugin
