// SPDX-License-Identifier: Apache-2.0
// The option strict: no double grant across a failover of a store that replicates asynchronously.
// docs/decisions/0038-strict.md gives the reasons.
#pragma once

#include <cstddef>

#include "core/lease.h"

namespace cronlatch {

struct StrictSettings {
  // That acknowledge each grant and each renewal.
  std::size_t min_replicas = 0;
  // No lease below the key prefix is longer.
  Millis max_ttl{};

  // How long a server with a new replication history grants nothing: then every lease of its
  // predecessor has ended.
  Millis quarantine() const { return max_ttl + lease_margin(max_ttl); }
};

}  // namespace cronlatch
