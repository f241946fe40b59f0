// SPDX-License-Identifier: Apache-2.0
// Chooses the container that runs behind the lock.
#pragma once

#include <optional>

#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/lock_request.h"

namespace cronlatch::op {

// The index in spec.containers: the container that an annotation names, or the only one. Adds a
// finding where there is none.
std::optional<std::size_t> gated_container(const JobView& job, const LockRequest& request,
                                           Findings& findings);

}  // namespace cronlatch::op
