// SPDX-License-Identifier: Apache-2.0
// The command's environment: contains the facts of its lock, and no option that describes only the
// run around it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/store.h"
#include "options/options.h"

namespace cronlatch {

// The environment without the password, without the options that describe one run, and without the
// variables that an outer run has set.
std::vector<std::string> scrubbed_environment(std::span<const std::string> environment);

struct GrantFacts {
  // Zero: a command without a lock, or a skip command; then CRONLATCH_FENCE and CRONLATCH_LEASE_MS
  // are absent.
  Fence fence = 0;
  // False: held until closed (file store); then CRONLATCH_LEASE_MS is absent.
  bool leased = true;
};

// scrubbed_environment and the facts of this run; `options` has its lock and holder filled in.
std::vector<std::string> child_environment(std::span<const std::string> environment,
                                           const Options& options, const GrantFacts& grant);

}  // namespace cronlatch
