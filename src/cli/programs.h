// SPDX-License-Identifier: Apache-2.0
// What may be wrong with a run before its store is asked, apart from its options: the same for
// `run`, which refuses, and for `explain`, which says so.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "config/load.h"
#include "proc/drive.h"

namespace cronlatch {

// The command and the skip command, found in the PATH they will have. Refuses a run inside a run of
// the same lock (78) and commands that cannot be executed or found (126, 127).
Result<Programs> find_programs(const Loaded& loaded, std::span<const std::string> environment);

// What the grant adds to the command's environment; `fence` is zero for a run without the lock.
std::vector<std::string> grant_variables(const Options& options,
                                         std::span<const std::string> environment, Fence fence,
                                         bool leased);

// Refuses (78) a run whose lease could end before a descendant that no signal reaches, unless
// `untracked` allows it. A lock without a lease is kept until every descendant has ended.
Status check_reach(const Options& options, bool leased);
// What has been allowed so is warned of at every start.
std::vector<LogLine> reach_warnings(bool leased);

}  // namespace cronlatch
