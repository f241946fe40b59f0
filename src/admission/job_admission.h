// SPDX-License-Identifier: Apache-2.0
// From a Job to its rewrite: reads the annotations of the Job, then injects the wrapper. The
// CronJob hook calls it for the Job that a template would become, so that `kubectl apply` reports
// an error and not the first run.
#pragma once

#include <optional>

#include "admission/inject.h"
#include "base/result.h"

namespace cronlatch::op {

// The annotations of the Job and of its pod template. A copied annotation of the Job takes
// precedence: it has the CronJob's value from the time when the Job was created.
Annotations annotations_of(const JobView& job, Findings& findings);

// Rewrites the Job. std::nullopt for a Job that requests no lock.
Result<std::optional<Injection>> rewrite_job(kube::Json& job, JobOrigin origin,
                                             const Settings& settings,
                                             const EntrypointSource& source);

}  // namespace cronlatch::op
