// SPDX-License-Identifier: Apache-2.0
// What may be wrong with a run before its store is asked, apart from its options: the same for
// `run`, which refuses, and for `explain`, which says so.
#pragma once

#include <span>
#include <string>

#include "config/load.h"
#include "core/result.h"
#include "proc/drive.h"

namespace cronlatch {

// The command and the skip command, found in the PATH they will have. Refuses a run inside a run of
// the same lock (78) and commands that cannot be executed or found (126, 127).
Result<Programs> find_programs(const Loaded& loaded, std::span<const std::string> environment);

}  // namespace cronlatch
