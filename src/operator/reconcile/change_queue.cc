// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/change_queue.h"

namespace cronlatch::op {

bool ChangeQueue::put(ObjectChange change, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return changes_.size() < kCapacity; })) return false;
  changes_.push_back(std::move(change));
  if (changes_.size() == 1) changed_.notify_all();
  return true;
}

std::optional<ObjectChange> ChangeQueue::take(Millis wait, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, stop, wait, [this] { return !changes_.empty(); }))
    return std::nullopt;
  ObjectChange first = std::move(changes_.front());
  changes_.pop_front();
  if (changes_.size() == kCapacity - 1) changed_.notify_all();
  return first;
}

void ChangeQueue::clear() {
  const std::lock_guard lock(mutex_);
  changes_.clear();
  changed_.notify_all();
}

}  // namespace cronlatch::op
