// SPDX-License-Identifier: Apache-2.0
// What is allowed and will surprise: kubectl shows it to whoever applies the object. Each warning
// is where, what will happen, and what would be right; the first 250 bytes are shown.
#pragma once

#include <string>
#include <vector>

#include "admission/user_command.h"
#include "admission/settings.h"
#include "admission/job_view.h"

namespace cronlatch::op {

std::vector<std::string> warnings_for(const Workload& workload, std::size_t container,
                                      const Settings& settings);

// What only a CronJob can say.
std::vector<std::string> history_warnings(const kube::Json& cronjob);

}  // namespace cronlatch::op
