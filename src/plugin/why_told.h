// SPDX-License-Identifier: Apache-2.0
// The part of `why` for a pod whose wrapper has left its word: what that means, and what to do.
// Pure.
#pragma once

#include "plugin/why.h"

namespace cronlatch::plugin {

// `kind`: the outcome that the wrapper told.
Finding told(const Pod& pod, Kind kind);

}  // namespace cronlatch::plugin
