// SPDX-License-Identifier: Apache-2.0
// A deque, a mutex, a condition.
#include "operator/reconcile/change_queue.h"

namespace cronlatch::op {

bool Inbox::put(Seen seen, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return seen_.size() < kMost; })) return false;
  seen_.push_back(std::move(seen));
  changed_.notify_all();
  return true;
}

std::optional<Seen> Inbox::take(Millis wait, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, stop, wait, [this] { return !seen_.empty(); })) return std::nullopt;
  Seen first = std::move(seen_.front());
  seen_.pop_front();
  changed_.notify_all();
  return first;
}

void Inbox::clear() {
  const std::lock_guard lock(mutex_);
  seen_.clear();
  changed_.notify_all();
}

}  // namespace cronlatch::op
