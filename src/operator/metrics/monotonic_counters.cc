// SPDX-License-Identifier: Apache-2.0
#include "operator/metrics/monotonic_counters.h"

#include <algorithm>

namespace cronlatch::op {
namespace {

bool by_name(const LockView& view, const std::string& lock) { return view.lock < lock; }

const LockView* find(const std::vector<LockView>& views, const std::string& lock) {
  const auto at = std::lower_bound(views.begin(), views.end(), lock, by_name);
  return at == views.end() || at->lock != lock ? nullptr : &*at;
}

// Whether a counter is lower than before.
bool has_decreased(const LockView& now, const LockView& before) {
  for (const auto& [job, counters] : before.jobs) {
    const auto same = now.jobs.find(job);
    for (const auto& [name, value] : counters.values)
      if (value > (same == now.jobs.end() ? 0 : same->second.get(name))) return true;
  }
  return false;
}

}  // namespace

const LockView* MonotonicCounters::before(const std::string& lock) const {
  if (shown_ == nullptr) return nullptr;
  const auto kept = shown_->kept.find(lock);
  return kept != shown_->kept.end() ? &kept->second : find(shown_->read, lock);
}

// The time of a kept lock advances: a lease that is not renewed expires.
void MonotonicCounters::keep(const LockView& view, LockStatsCopy& copy,
                             ServerTime store_now) const {
  LockView& kept = copy.kept[view.lock] = view;
  kept.now = std::max(kept.now, store_now);
  if (kept.state == LockState::held && kept.expires.us != 0 && kept.expires <= kept.now)
    kept.state = LockState::expired;
  for (GrantView& grant : kept.grants)
    if (grant.state == LockState::held && grant.expires <= kept.now)
      grant.state = LockState::expired;
}

std::shared_ptr<const LockStatsCopy> MonotonicCounters::update(std::vector<LockView> read,
                                                               TimePoint now) {
  auto copy = std::make_shared<LockStatsCopy>();
  copy->read = std::move(read);
  resets_ = 0;
  const ServerTime store_now = copy->read.empty() ? ServerTime{} : copy->read.front().now;
  for (const LockView& view : copy->read) {
    missing_.erase(view.lock);
    const LockView* const previous = before(view.lock);
    if (previous == nullptr) continue;
    // A lower fence means older data, also with higher counters: those of before a flush.
    if (view.fence >= previous->fence && !has_decreased(view, *previous)) continue;
    if (view.fence > previous->fence)
      ++resets_;
    else
      keep(*previous, *copy, store_now);
  }
  const auto remember = [&](const LockView& view) {
    if (find(copy->read, view.lock) != nullptr) return;
    const TimePoint since = missing_.emplace(view.lock, now).first->second;
    if (now - since < kRetention)
      keep(view, *copy, store_now);
    else
      missing_.erase(view.lock);
  };
  if (shown_ != nullptr) {
    for (const LockView& view : shown_->read)
      if (!shown_->kept.contains(view.lock)) remember(view);
    for (const auto& [lock, view] : shown_->kept) remember(view);
  }
  shown_ = copy;
  return copy;
}

}  // namespace cronlatch::op
