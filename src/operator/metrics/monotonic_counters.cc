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

// Is anything that was counted before not counted any more?
bool went_back(const LockView& now, const LockView& before) {
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

// Time goes on for what is kept: a lease that nobody renews ends.
void MonotonicCounters::keep(const LockView& view, LockStatsCopy& copy,
                             ServerTime store_now) const {
  LockView& kept = copy.kept[view.lock] = view;
  kept.now = std::max(kept.now, store_now);
  if (kept.state == LockState::held && kept.expires.us != 0 && kept.expires <= kept.now)
    kept.state = LockState::expired;
}

std::shared_ptr<const LockStatsCopy> MonotonicCounters::take(std::vector<LockView> read,
                                                             TimePoint now) {
  auto copy = std::make_shared<LockStatsCopy>();
  copy->read = std::move(read);
  resets_ = 0;
  const ServerTime store_now = copy->read.empty() ? ServerTime{} : copy->read.front().now;
  for (const LockView& view : copy->read) {
    missing_.erase(view.lock);
    const LockView* const mark = before(view.lock);
    if (mark == nullptr) continue;
    // An older grant is an older reading, whatever it counts: of before a flush it counts more.
    if (view.fence >= mark->fence && !went_back(view, *mark)) continue;
    if (view.fence > mark->fence)
      ++resets_;
    else
      keep(*mark, *copy, store_now);
  }
  const auto remember = [&](const LockView& view) {
    if (find(copy->read, view.lock) != nullptr) return;
    const TimePoint since = missing_.emplace(view.lock, now).first->second;
    if (now - since < kRemember)
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
