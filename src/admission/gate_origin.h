// SPDX-License-Identifier: Apache-2.0
// The CronJob of a Job that is gated already and has no owner: MultiKueue and restores copy a Job
// without it. The gate contains the CronJob's name. It is used only within the Job's namespace,
// where the annotation can name every lock, too.
#pragma once

#include <string>

#include "admission/job_view.h"

namespace cronlatch::op {

// The name, or "".
std::string cronjob_of_gate(const JobView& job);

}  // namespace cronlatch::op
