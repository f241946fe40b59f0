// SPDX-License-Identifier: Apache-2.0
// What the command finds in its environment: the lock it runs under, and nothing that belongs to
// the run around it alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/store.h"
#include "options/options.h"

namespace cronlatch {

// The environment without the password, without the options that describe one run, and without what
// an outer run told its command. What a skip command gets.
std::vector<std::string> scrubbed_environment(std::span<const std::string> environment);

struct GrantFacts {
  // Zero: ungated; then CRONLATCH_FENCE and CRONLATCH_LEASE_MS are not there.
  Fence fence = 0;
  // False: held until closed (file store); then CRONLATCH_LEASE_MS is not there.
  bool leased = true;
};

// scrubbed_environment and the facts of this run; `options` has its lock and holder filled in.
std::vector<std::string> child_environment(std::span<const std::string> environment,
                                           const Options& options, const GrantFacts& grant);

}  // namespace cronlatch
