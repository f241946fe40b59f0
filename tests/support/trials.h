// SPDX-License-Identifier: Apache-2.0
// Trials of runs that wait much more than they compute: several at once.
#pragma once

#include <deque>
#include <memory>
#include <utility>

namespace cronlatch::testing {

// Trial: its constructor starts it, judge() ends it.
template <class Trial>
class Trials {
 public:
  explicit Trials(std::size_t at_once) : at_once_(at_once) {}

  // Starts one more, and ends the oldest first where that would be too many.
  template <class... Arguments>
  void start(Arguments&&... arguments) {
    if (running_.size() == at_once_) judge_oldest();
    running_.push_back(std::make_unique<Trial>(std::forward<Arguments>(arguments)...));
  }
  void judge_rest() {
    while (!running_.empty()) judge_oldest();
  }

 private:
  void judge_oldest() {
    running_.front()->judge();
    running_.pop_front();
  }

  const std::size_t at_once_;
  std::deque<std::unique_ptr<Trial>> running_;
};

// These stay 0 when each run has its lease until it releases it.
inline constexpr const char* kCountersOfLosses[] = {"stolen",    "revoked", "lost",
                                                    "runs_lost", "ungated", "restored"};

}  // namespace cronlatch::testing
