// SPDX-License-Identifier: Apache-2.0
// Results: functions that the threads of Workers pass to the thread that owns the state. Thread
// rule: put() from any thread, the others on that thread.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace cronlatch::op {

class Results {
 public:
  using Result = std::function<void()>;

  void put(Result result) {
    const std::lock_guard lock(mutex_);
    results_.push_back(std::move(result));
  }
  // In the order of put().
  std::vector<Result> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(results_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Result> results_;
};

}  // namespace cronlatch::op
