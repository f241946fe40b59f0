// SPDX-License-Identifier: Apache-2.0
// The names in a pod that the rewrite needs: of volumes, containers and mount paths. Pure.
#pragma once

#include "admission/findings.h"
#include "admission/job_view.h"
#include "admission/settings.h"

namespace cronlatch::op {

// Adds a finding for everything of the user with such a name. What an earlier rewrite has added is
// not of the user, whatever the settings were then: copies of Jobs contain it.
void check_reserved_names(const JobView& job, std::size_t container, const Settings& settings,
                          Findings& findings);

}  // namespace cronlatch::op
