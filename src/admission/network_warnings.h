// SPDX-License-Identifier: Apache-2.0
// Warns if the pod's DNS cannot resolve the name of the store.
#pragma once

#include <vector>

#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/settings.h"

namespace cronlatch::op {

void add_network_warnings(const JobView& job, const Settings& settings,
                          std::vector<Finding>& warnings);

}  // namespace cronlatch::op
