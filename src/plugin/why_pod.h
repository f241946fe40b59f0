// SPDX-License-Identifier: Apache-2.0
// The innermost part of `why`: what became of one pod. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugin/why.h"

namespace cronlatch::plugin {

// Never empty; the cause first.
std::vector<Finding> judge_pod(const Cluster& cluster, const Job& job, const Pod& pod);

// What shows the output of its gated container.
std::string logs(const Pod& pod);

}  // namespace cronlatch::plugin
