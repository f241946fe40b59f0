// SPDX-License-Identifier: Apache-2.0
// Jobs that cannot be gated although the command is known: the lock would be acquired too late or
// never, or a skipped pod would count as a completion. Each restriction adds a finding with field
// path and fix.
#pragma once

#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/lock_request.h"

namespace cronlatch::op {

void check_restrictions(const JobView& job, std::size_t container, const LockRequest& request,
                        const Settings& settings, Findings& findings);

// The longest wait for the lock that leaves the command half of the deadline.
Millis max_wait_within(Millis deadline);

}  // namespace cronlatch::op
