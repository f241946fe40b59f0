// SPDX-License-Identifier: Apache-2.0
// MonotonicCounters: keeps exported counters from decreasing because a replica lags or because the
// store lost its data. They restart when the lock was granted since. The fence of the last grant is
// the epoch: it contains the clock of the store, rises with every grant, and is stored with the
// counters. Pure; one thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/lock_stats.h"

namespace cronlatch::op {

// Immutable: readers share it.
struct LockStatsCopy {
  std::vector<LockView> read;            // as read from the store, sorted by name
  std::map<std::string, LockView> kept;  // replaces `read` for locks whose counters decreased
};

// All counters of a lock come from one read: acquired = released + stolen + revoked + open holds
// only within one read.
class MonotonicCounters {
 public:
  // How long a lock is exported that the store no longer has.
  static constexpr Seconds kRetention{24 * 3600};

  // Processes one read; `now` is the local clock.
  std::shared_ptr<const LockStatsCopy> update(std::vector<LockView> read, TimePoint now);
  // The number of locks in the last read whose counters restarted.
  std::size_t resets() const { return resets_; }

 private:
  const LockView* before(const std::string& lock) const;
  void keep(const LockView& view, LockStatsCopy& copy, ServerTime store_now) const;

  std::shared_ptr<const LockStatsCopy> shown_;
  std::map<std::string, TimePoint> missing_;  // since
  std::size_t resets_ = 0;
};

}  // namespace cronlatch::op
