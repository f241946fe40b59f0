// SPDX-License-Identifier: Apache-2.0
// What cannot be gated although its command is known: shapes of a Job in which the lock would be
// taken too late, never, or by each pod for itself. Refused with field path and fix.
#pragma once

#include <optional>

#include "admission/findings.h"
#include "admission/user_command.h"
#include "admission/lock_request.h"
#include "admission/job_view.h"

namespace cronlatch::op {

void refuse_shapes(const Workload& workload, std::size_t container, const LockRequest& request,
                   Findings& findings);

// The shorter of the Job's and the pod's activeDeadlineSeconds. `job` is shaped like a Job.
std::optional<Millis> active_deadline(const kube::Json& job);

// The longest wait for the lock that leaves the command half of the deadline.
Millis wait_within(Millis deadline);

}  // namespace cronlatch::op
