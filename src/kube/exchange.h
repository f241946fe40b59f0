// SPDX-License-Identifier: Apache-2.0
// Exchange: the state of one request, shared by the HTTP library's threads and the calling thread.
// The library pushes bytes; the caller waits with a deadline and takes them. A slow reader pauses
// the library. The object outlives a caller that gave up; bytes are then discarded.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace cronlatch::kube {

class Exchange {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // ---- the library's side ----
  // `retry_after` is the value of that header; "" without it.
  void set_status(int status, std::string retry_after = {});
  // True: continue. False: wait; `resume` is called once when there is room.
  bool push(std::string_view bytes, std::function<void()> resume);
  // `error` empty: the response is complete.
  void finish(std::string error);

  // ---- the caller's side ----
  enum class WaitResult { bytes, end, deadline, stopped };
  // Waits for bytes or the end. Bytes are reported before the end, and never before the status.
  WaitResult wait(Time deadline, const std::stop_token& stop);
  std::string take();
  // After a cancellation: waits until the library has ended the request, or until `deadline`.
  void wait_for_end(Time deadline);
  // Discards all further bytes and resumes a paused push.
  void abandon();
  int status() const;
  std::string retry_after() const;
  std::string error() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string bytes_;
  std::function<void()> resume_;
  int status_ = 0;
  std::string retry_after_;
  bool abandoned_ = false;
  std::optional<std::string> end_;
};

}  // namespace cronlatch::kube
