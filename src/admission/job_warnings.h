// SPDX-License-Identifier: Apache-2.0
// Warnings about Jobs and CronJobs that are accepted; kubectl prints them. Each is a field path,
// the effect and the fix. review.cc cuts a warning after 250 bytes.
#pragma once

#include <string>
#include <vector>

#include "admission/job_view.h"
#include "admission/settings.h"

namespace cronlatch::op {

std::vector<std::string> job_warnings(const JobView& job, std::size_t container,
                                      const Settings& settings);

// About the CronJob's own fields.
std::vector<std::string> history_warnings(const kube::Json& cronjob);

}  // namespace cronlatch::op
