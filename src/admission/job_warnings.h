// SPDX-License-Identifier: Apache-2.0
// Warnings about Jobs and CronJobs that are accepted; kubectl prints them.
#pragma once

#include <vector>

#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/lock_request.h"
#include "admission/settings.h"

namespace cronlatch::op {

std::vector<Finding> job_warnings(const JobView& job, std::size_t container,
                                  const LockRequest& request, const Settings& settings);

// About the CronJob's own fields.
std::vector<Finding> history_warnings(const kube::Json& cronjob);

}  // namespace cronlatch::op
