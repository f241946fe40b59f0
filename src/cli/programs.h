// SPDX-License-Identifier: Apache-2.0
// The checks of a run before the first request to its store, apart from its options. The same for
// `run`, which refuses, and for `explain`, which reports it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "config/load.h"
#include "proc/drive.h"

namespace cronlatch {

// Finds the command and the skip command in their own PATH. Refuses a run inside a run of
// the same lock (78) and commands that cannot be executed or found (126, 127).
Result<Programs> find_programs(const LoadedOptions& loaded,
                               std::span<const std::string> environment);

// What the grant adds to the command's environment; `fence` is zero for a run without the lock.
std::vector<std::string> grant_variables(const Options& options,
                                         std::span<const std::string> environment, Fence fence,
                                         bool leased);

// Refuses (78) a run whose lease could end before a descendant that no signal reaches, unless
// `untracked` allows it. A lock without a lease is kept until every descendant has ended.
Status check_reach(const Options& options, bool leased);
// The warning at every start that `untracked` allows.
std::vector<LogLine> reach_warnings(bool leased);

}  // namespace cronlatch
