// SPDX-License-Identifier: Apache-2.0
// From a Job to its rewrite: reads the annotations of the Job, then injects the wrapper. The
// CronJob hook calls it for the Job that a template would become, so that `kubectl apply` reports
// an error and not the first run.
#pragma once

#include <optional>

#include "admission/inject.h"

namespace cronlatch::op {

// The annotations of the Job and of its pod template. A copied annotation of the Job takes
// precedence: it has the CronJob's value from the time when the Job was created.
Annotations annotations_of(const JobView& job, Findings& findings);

// Rewrites the Job. std::nullopt for a Job that requests no lock, and with findings: the reasons to
// refuse the Job, all at once.
std::optional<Injection> rewrite_job(kube::Json& job, JobOrigin origin, const Settings& settings,
                                     const EntrypointSource& source, Findings& findings);
// The same with the annotations that the Job will have, each with the place where the user wrote
// it.
std::optional<Injection> rewrite_job(kube::Json& job, JobOrigin origin,
                                     const Annotations& annotations, const Settings& settings,
                                     const EntrypointSource& source, Findings& findings);

}  // namespace cronlatch::op
