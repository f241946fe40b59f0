// SPDX-License-Identifier: Apache-2.0
// Workers: a bounded number of threads that execute tasks, with a bounded queue. A full queue
// blocks submit(), and thereby the watchers and the network.
//
// Thread rule: submit() and clear() on one thread; tasks run on the threads of the object.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cronlatch::op {

class Workers {
 public:
  using Task = std::function<void()>;  // must not throw
  static constexpr std::size_t kQueued = 64;
  struct Reports {
    // Called by a worker before and after each task.
    std::function<void()> began = [] {}, ended = [] {};
    // Called by the thread that submits, when a task was accepted.
    std::function<void()> accepted = [] {};
  };

  // `threads` 0: submit() executes the task itself.
  explicit Workers(std::size_t threads) : Workers(threads, Reports{}) {}
  Workers(std::size_t threads, Reports reports);
  ~Workers();  // as clear()
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Waits while the queue is full. Tasks begin in the order of their submission.
  void submit(Task task);
  // Discards queued tasks and waits for the end of the running ones.
  void clear();

 private:
  void work();

  const bool inline_;
  const Reports reports_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::size_t running_ = 0;
  bool ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace cronlatch::op
