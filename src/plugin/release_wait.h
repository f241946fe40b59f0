// SPDX-License-Identifier: Apache-2.0
// The second half of `kubectl cronlatch release`: waits for the Job.
#pragma once

#include <string>

#include "plugin/context.h"
#include "plugin/output.h"
#include "plugin/release_plan.h"

namespace cronlatch::plugin {

// Waits for the end of `job` ("job.batch/NAME", as kubectl prints it), prints its output and
// deletes it. Code::unreachable if it cannot run or does not end in time; then it is not deleted.
Result<Output> await_release_job(const Context& context, const ReleaseTarget& target,
                                 const std::string& job);

}  // namespace cronlatch::plugin
