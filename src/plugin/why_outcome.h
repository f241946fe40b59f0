// SPDX-License-Identifier: Apache-2.0
// The part of `why` for a pod whose wrapper has written an outcome: its meaning, and the fix. Pure.
#pragma once

#include "plugin/why.h"

namespace cronlatch::plugin {

// `kind`: the outcome that the wrapper wrote.
Finding outcome_finding(const Pod& pod, Kind kind);

}  // namespace cronlatch::plugin
