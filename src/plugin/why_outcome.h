// SPDX-License-Identifier: Apache-2.0
// The part of `why` for a pod whose wrapper reported an outcome: what it means, and what to do.
// Pure.
#pragma once

#include "plugin/why.h"

namespace cronlatch::plugin {

// `kind`: the outcome that the wrapper reported.
RunFinding outcome_finding(const Pod& pod, Kind kind);

}  // namespace cronlatch::plugin
