// SPDX-License-Identifier: Apache-2.0
// StepDeadline: one timer that limits each step of a connection. Used on one strand.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "base/time.h"

namespace cronlatch::op::http {

class StepDeadline {
 public:
  template <class Executor>
  explicit StepDeadline(const Executor& executor) : timer_(executor) {}

  // Replaces the previous deadline. `on_expired` must keep the owner of this object alive.
  template <class OnExpired>
  void set(std::chrono::steady_clock::time_point now, Millis limit, const OnExpired& on_expired) {
    expires_at_ = now + limit;
    // If the timer is set to an earlier time, it starts again when it expires. Most steps of a busy
    // connection therefore set no timer.
    if (!set_ || expires_at_ < timer_.expiry()) start_timer(on_expired);
  }
  void cancel() {
    canceled_ = true;
    timer_.cancel();
  }

 private:
  template <class OnExpired>
  void start_timer(const OnExpired& on_expired) {
    if (canceled_) return;
    set_ = true;
    timer_.expires_at(expires_at_);
    timer_.async_wait([this, on_expired](const boost::system::error_code& error) {
      if (error || canceled_) return;
      if (std::chrono::steady_clock::now() < expires_at_) return start_timer(on_expired);
      set_ = false;
      on_expired();
    });
  }

  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point expires_at_{};
  bool set_ = false;
  bool canceled_ = false;
};

}  // namespace cronlatch::op::http
