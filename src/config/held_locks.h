// SPDX-License-Identifier: Apache-2.0
// The locks that the runs around this one hold. A run that waits for one of them would wait for its
// own end.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch {

// Handed from run to run: the digests of (store, lock), separated by commas, the outermost first.
// Not CRONLATCH_HELD: version 0.1.0, which may be the inner run, refuses variables of that prefix
// that it does not know. It can only lead to a refusal.
inline constexpr std::string_view kHeldVariable = "_CRONLATCH_HELD";

// `store` identifies the store (store_identity of store/url.h).
std::string held_lock(const std::string& store, const std::string& lock);

// Code::config when `lock`, as held_lock() names it, is held by a run around this one, or when runs
// are nested deeper than the variable may grow. `name` is for the message.
Status refuse_nested(std::span<const std::string> environment, const std::string& lock,
                     const std::string& name);

// The variable for a command that runs under `lock` and all that its environment names; `lock` is
// empty for a run that holds none. Empty where there is nothing to hand on.
std::vector<std::string> held_variable(std::span<const std::string> environment,
                                       const std::string& lock);

// The environment without the variable.
std::vector<std::string> without_held(std::span<const std::string> environment);

}  // namespace cronlatch
