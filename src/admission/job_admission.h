// SPDX-License-Identifier: Apache-2.0
// From a Job to its rewrite: reads the annotations that the Job carries, then injects. The CronJob
// hook asks the same of the Job that a template would become, so that `kubectl apply` says at once
// what would otherwise be said at night.
#pragma once

#include <optional>

#include "admission/inject.h"
#include "base/result.h"

namespace cronlatch::op {

// The Job's annotations and those of its pod template. Where the Job's are copies of ours, they
// decide: the Job is what the CronJob said when the run was due.
Annotations annotations_of(const Workload& workload, Findings& findings);

// Nothing for a Job that is not to be gated.
Result<std::optional<Injection>> gate(const Workload& workload, const Settings& settings,
                                      const EntrypointSource& source);

}  // namespace cronlatch::op
