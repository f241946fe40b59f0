// SPDX-License-Identifier: Apache-2.0
// Exchange: what the HTTP library's threads and the thread that called us share about one request.
// The library pushes; the caller waits with a deadline and takes. A reader that is slower than the
// network holds the network back. It outlives a caller that gave up, and pushes to nobody then.
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
  void head(int status);
  // True: go on. False: `resume` will be called, once, when there is room again.
  bool push(std::string_view bytes, std::function<void()> resume);
  // `error` empty: the response is complete.
  void finish(std::string error);

  // ---- the caller's side ----
  enum class Wake { bytes, end, deadline, stopped };
  // Waits for something to take. `bytes` come before an end that is there too, and never before
  // the status, which says what they mean.
  Wake wait(Time deadline, const std::stop_token& stop);
  std::string take();
  // After cancelling the request: until the library let go of it, or `deadline`.
  void wait_for_end(Time deadline);
  // Takes no more: lets a pusher that is held back go.
  void abandon();
  int status() const;
  std::string error() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string bytes_;
  std::function<void()> resume_;
  int status_ = 0;
  bool abandoned_ = false;
  std::optional<std::string> end_;
};

}  // namespace cronlatch::kube
