// SPDX-License-Identifier: Apache-2.0
// ChangeQueue: the changes that watchers report, for the thread that processes them. It is bounded:
// a full queue blocks the watcher and thereby the network, so that a cluster with 10,000 objects is
// never in memory at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>

#include "base/time.h"
#include "operator/reconcile/object_change.h"

namespace cronlatch::op {

class ChangeQueue {
 public:
  static constexpr std::size_t kCapacity = 256;
  // Waits for room; false when stopped.
  bool put(ObjectChange change, const std::stop_token& stop);
  // Waits at most `wait`.
  std::optional<ObjectChange> take(Millis wait, const std::stop_token& stop);
  void clear();

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<ObjectChange> changes_;
};

}  // namespace cronlatch::op
