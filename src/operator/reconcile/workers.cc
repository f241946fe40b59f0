// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/workers.h"

#include <utility>

#include "base/thread_name.h"

namespace cronlatch::op {

Workers::Workers(std::size_t threads, Reports reports)
    : inline_(threads == 0), reports_(std::move(reports)) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  clear();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  threads_.clear();  // joins
}

void Workers::submit(Task task) {
  if (inline_) return task();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.size() < kQueued; });
  tasks_.push_back(std::move(task));
  changed_.notify_all();
  lock.unlock();
  reports_.accepted();
}

void Workers::clear() {
  std::unique_lock lock(mutex_);
  tasks_.clear();
  changed_.wait(lock, [this] { return running_ == 0; });
}

void Workers::work() {
  name_thread("report");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (ending_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    changed_.notify_all();
    reports_.began();
    task();
    task = nullptr;  // its captures must not outlive clear()
    reports_.ended();
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

}  // namespace cronlatch::op
