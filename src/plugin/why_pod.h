// SPDX-License-Identifier: Apache-2.0
// The part of `why` for the pod of a run. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugin/why.h"

namespace cronlatch::plugin {

// Never empty; the cause first.
std::vector<RunFinding> findings_of_pod(const Cluster& cluster, const Pod& pod);

// The command that prints the output of its gated container.
std::string logs(const Pod& pod);

}  // namespace cronlatch::plugin
