// SPDX-License-Identifier: Apache-2.0
// `resume` is called without the mutex: it runs code of the library, which may call push() at once.
#include "kube/exchange.h"

#include <utility>

namespace cronlatch::kube {
namespace {

constexpr std::size_t kPauseAt = 1U << 20;

}  // namespace

void Exchange::set_status(int status, std::string retry_after) {
  const std::lock_guard lock(mutex_);
  status_ = status;
  retry_after_ = std::move(retry_after);
  changed_.notify_all();
}

bool Exchange::push(std::string_view bytes, std::function<void()> resume) {
  const std::lock_guard lock(mutex_);
  if (abandoned_) return true;
  bytes_ += bytes;
  changed_.notify_all();
  if (bytes_.size() < kPauseAt) return true;
  resume_ = std::move(resume);
  return false;
}

void Exchange::finish(std::string error) {
  const std::lock_guard lock(mutex_);
  end_ = std::move(error);
  changed_.notify_all();
}

Exchange::WaitResult Exchange::wait(Time deadline, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool woken = changed_.wait_until(
      lock, stop, deadline, [this] { return (status_ != 0 && !bytes_.empty()) || end_; });
  if (stop.stop_requested()) return WaitResult::stopped;
  if (!woken) return WaitResult::deadline;
  // A server that sends a few bytes now and then must not extend the deadline.
  if (std::chrono::steady_clock::now() >= deadline && !end_) return WaitResult::deadline;
  return bytes_.empty() ? WaitResult::end : WaitResult::bytes;
}

std::string Exchange::take() {
  std::string bytes;
  std::function<void()> resume;
  {
    const std::lock_guard lock(mutex_);
    bytes.swap(bytes_);
    resume.swap(resume_);
  }
  if (resume) resume();
  return bytes;
}

void Exchange::wait_for_end(Time deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return end_.has_value(); });
}

void Exchange::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  static_cast<void>(take());
}

int Exchange::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::string Exchange::retry_after() const {
  const std::lock_guard lock(mutex_);
  return retry_after_;
}

std::string Exchange::error() const {
  const std::lock_guard lock(mutex_);
  return end_.value_or("");
}

}  // namespace cronlatch::kube
