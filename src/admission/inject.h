// SPDX-License-Identifier: Apache-2.0
// The rewrite: a Job's pod template in which one container runs behind its lock. Pure, and a fixed
// point: what it has rewritten it leaves as it is, and what somebody else has changed since is
// rewritten again. Whether a container is gated is told by its command, never by a mark.
#pragma once

#include <string>
#include <vector>

#include "admission/entrypoint.h"
#include "admission/lock_request.h"
#include "admission/job_view.h"
#include "base/result.h"

namespace cronlatch::op {

struct Injection {
  kube::Json patch;  // below the Job
  std::vector<std::string> warnings;
};

// `wishes.gate` is Gate::on. The Job itself is rewritten, too. The error says everything that is in
// the way, and the Job is as it was.
Result<Injection> inject(const Workload& workload, const LockRequest& request,
                         const Settings& settings, const EntrypointSource& source);

}  // namespace cronlatch::op
