// SPDX-License-Identifier: Apache-2.0
// The rewrite of a Job: one container of its pod template is gated. Pure and
// idempotent: a rewritten Job is not changed, unless another webhook has changed it since. Only the
// command decides whether a container is already gated, never an annotation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/entrypoint.h"
#include "admission/job_view.h"
#include "admission/lock_request.h"

namespace cronlatch::op {

struct Injection {
  kube::Json patch;  // its paths start at the Job
  std::vector<Finding> warnings;
};

// Rewrites `job`, of which `view` is the view; `request.gate` is Gate::on. Adds a finding for
// everything that prevents the rewrite. With findings, also earlier ones, the Job is not changed.
std::optional<Injection> inject(kube::Json& job, const JobView& view, const LockRequest& request,
                                const Settings& settings, const EntrypointSource& source,
                                Findings& findings);

}  // namespace cronlatch::op
