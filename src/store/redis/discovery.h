// SPDX-License-Identifier: Apache-2.0
// Discovery: which addresses serve the store now. Asked anew for every connection, so that a
// failover is followed. Today there is one kind, a host name; a Sentinel or a Cluster would be
// others. Nothing in it blocks.
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
  // Starts over; whatever was under way is forgotten.
  virtual void begin(TimePoint now) = 0;
  virtual void watch(PollSet& set) const = 0;
  // The addresses, best first, never an empty list; or why there are none. Once per begin().
  virtual std::optional<Result<std::vector<Address>>> step(const PollSet& set, TimePoint now) = 0;
};

}  // namespace cronlatch::redis
