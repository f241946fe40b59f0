// SPDX-License-Identifier: Apache-2.0
// The locks that outer runs hold. A nested run that waits for one of them would wait for its own
// end.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch {

// Passed from run to run: the locks, separated by commas, the outermost first. Each is the digest
// of (store, lock). Where the end of one process ends the lock, '@' and the name of that process
// follow (running_process() of proc/running_process.h): a process that outlives the run inherits
// the variable, and the lock is not held any more.
// Not CRONLATCH_HELD: version 0.1.0, which may be the inner run, refuses unknown variables with
// that prefix. The variable can only cause a refusal.
inline constexpr std::string_view kHeldVariable = "_CRONLATCH_HELD";

// `store` identifies the store (store_identity of core/store_url.h).
std::string held_lock(const std::string& store, const std::string& lock);

// Whether the process with that name has certainly ended.
using HasEnded = std::function<bool(std::string_view process)>;

// Code::config when `lock`, as held_lock() names it, is held by an outer run, or when too many
// runs are nested. `name` is for the message.
Status refuse_nested(std::span<const std::string> environment, const std::string& lock,
                     const std::string& name, const HasEnded& has_ended);

// The variable for a command: `lock`, held by `process` (empty: as long as the command runs), and
// the locks in its environment; `lock` is empty for an ungated run. Empty when there is no lock.
std::vector<std::string> held_variable(std::span<const std::string> environment,
                                       const std::string& lock, const std::string& process,
                                       const HasEnded& has_ended);

// The environment without the variable.
std::vector<std::string> without_held(std::span<const std::string> environment);

}  // namespace cronlatch
