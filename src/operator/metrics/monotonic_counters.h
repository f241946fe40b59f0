// SPDX-License-Identifier: Apache-2.0
// MonotonicCounters: what may be shown of a ledger that was read again. A counter must never go
// back because a replica lags or because the store lost its data; it may begin anew when the lock
// has been granted since. The fence of the last grant is the epoch: it is made of the store's clock
// and rises with every grant, and it lives and dies with the counters. Pure; one thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/lock_stats.h"

namespace cronlatch::op {

// Never changed once it is made: readers keep it as long as they need it.
struct LockStatsCopy {
  std::vector<LockView> read;            // as the store says, sorted by name
  std::map<std::string, LockView> kept;  // what to count by instead: locks that went back
};

// A lock is shown as a whole, from one reading: mixing two would break the law that acquired is
// released, stolen, revoked and open together.
class MonotonicCounters {
 public:
  // A lock that the store knows no more is remembered for so long.
  static constexpr Seconds kRemember{24 * 3600};

  // Takes a reading; `now` is ours.
  std::shared_ptr<const LockStatsCopy> take(std::vector<LockView> read, TimePoint now);
  // Locks of the last reading that began anew.
  std::size_t resets() const { return resets_; }

 private:
  const LockView* before(const std::string& lock) const;
  void keep(const LockView& view, LockStatsCopy& copy, ServerTime store_now) const;

  std::shared_ptr<const LockStatsCopy> shown_;
  std::map<std::string, TimePoint> missing_;  // since when
  std::size_t resets_ = 0;
};

}  // namespace cronlatch::op
