// SPDX-License-Identifier: Apache-2.0
// Discovery: the addresses of the store. Runs for every connection, so that a failover is followed.
// Resolver, for a host name, is the only implementation. Never blocks.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/store.h"
#include "store/redis/address.h"

namespace cronlatch::redis {

class Discovery {
 public:
  virtual ~Discovery() = default;
  // Starts again and drops a lookup in progress.
  virtual void begin(TimePoint now) = 0;
  virtual void watch(PollSet& set) const = 0;
  // The addresses, best first, never an empty list; or an error. Once per begin().
  virtual std::optional<Result<std::vector<Address>>> step(const PollSet& set, TimePoint now) = 0;
};

}  // namespace cronlatch::redis
