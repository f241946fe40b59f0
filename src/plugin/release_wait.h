// SPDX-License-Identifier: Apache-2.0
// The second half of `kubectl cronlatch release`: the Job is made, what becomes of it?
#pragma once

#include <string>

#include "plugin/commands.h"
#include "plugin/release_plan.h"

namespace cronlatch::plugin {

// Waits for the end of `job` ("job.batch/NAME", as kubectl prints it), shows what it said and
// removes it. Code::unreachable when it cannot run or does not end in time; then it stays for a
// look.
Result<Page> wait_and_tell(const Surroundings& around, const ReleaseTarget& target,
                           const std::string& job);

}  // namespace cronlatch::plugin
