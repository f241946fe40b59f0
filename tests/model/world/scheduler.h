// SPDX-License-Identifier: Apache-2.0
// Scheduler: true time, and what happens at which time. Tasks of the same time run in the order in
// which they were added.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "model/rules/facts.h"

namespace cronlatch::model {

class Scheduler {
 public:
  using Task = std::function<void()>;
  Us now() const { return now_; }
  void later(Us in, Task task) {
    heap_.push_back({now_ + std::max<Us>(0, in), ++order_, std::move(task)});
    std::push_heap(heap_.begin(), heap_.end());
  }
  // Runs the next task; false: there is none until `limit`.
  bool step(Us limit) {
    if (heap_.empty() || heap_.front().at > limit) return false;
    std::pop_heap(heap_.begin(), heap_.end());
    const Later next = std::move(heap_.back());
    heap_.pop_back();
    now_ = next.at;
    next.task();
    return true;
  }

 private:
  struct Later {
    Us at;
    std::uint64_t order;
    Task task;
    bool operator<(const Later& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  std::vector<Later> heap_;
  Us now_ = 0;
  std::uint64_t order_ = 0;
};

}  // namespace cronlatch::model
