// SPDX-License-Identifier: Apache-2.0
#include "operator/liveness.h"

#include "base/duration.h"

namespace cronlatch::op {

Liveness::Liveness(const Clock& clock, const Log& log, Millis limit)
    : clock_(clock), log_(log), limit_(limit) {
  reported_.clear();
}

void Liveness::progress(std::string_view name) {
  const TimePoint now = clock_.now();
  const std::lock_guard lock(mutex_);
  const auto loop = loops_.find(name);
  if (loop == loops_.end()) {
    loops_[std::string(name)] = {std::string(name), now, now + limit_};
  } else {
    loop->second.since = now;
    loop->second.until = now + limit_;
  }
}

void Liveness::begin(std::string_view name, Millis longest) {
  const TimePoint now = clock_.now();
  const std::lock_guard lock(mutex_);
  work_[std::this_thread::get_id()] = {std::string(name), now, now + longest + limit_};
}

void Liveness::end() {
  const std::lock_guard lock(mutex_);
  work_.erase(std::this_thread::get_id());
}

const Liveness::Expected* Liveness::overdue(TimePoint now) const {
  for (const auto& [name, loop] : loops_)
    if (now > loop.until) return &loop;
  for (const auto& [thread, work] : work_)
    if (now > work.until) return &work;
  return nullptr;
}

std::string Liveness::stuck() {
  const TimePoint now = clock_.now();
  const std::lock_guard lock(mutex_);
  const Expected* const found = overdue(now);
  if (found == nullptr) {
    if (reported_.clear())
      log_({Level::info, "loop_continues", "every loop of the operator makes progress again", {}});
    return "";
  }
  const auto seconds = std::chrono::floor<Seconds>(now - found->since);
  std::string text = found->name + " made no progress for " + show_duration(seconds);
  if (reported_.set(found->name))
    log_({Level::error,
          "loop_stuck",
          text + "; the liveness probe fails until it does",
          {{"loop", found->name}},
          "the kubelet restarts the container; report the log lines before this one"});
  return text;
}

}  // namespace cronlatch::op
