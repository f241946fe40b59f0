// SPDX-License-Identifier: Apache-2.0
// One timer that bounds each step of a connection, however often the step changes. Used on one
// strand.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "base/time.h"

namespace cronlatch::op::http {

class Deadline {
 public:
  template <class Executor>
  explicit Deadline(const Executor& executor) : timer_(executor) {}

  // In place of the one before. `on_late` holds whoever holds this.
  template <class OnLate>
  void set(std::chrono::steady_clock::time_point now, Millis limit, const OnLate& on_late) {
    until_ = now + limit;
    // Later than what the timer is set to: it looks again when it goes off. Most steps of a busy
    // connection cost nothing that way.
    if (!set_ || until_ < timer_.expiry()) wait(on_late);
  }
  void end() {
    ended_ = true;
    timer_.cancel();
  }

 private:
  template <class OnLate>
  void wait(const OnLate& on_late) {
    if (ended_) return;
    set_ = true;
    timer_.expires_at(until_);
    timer_.async_wait([this, on_late](const boost::system::error_code& trouble) {
      if (trouble || ended_) return;
      if (std::chrono::steady_clock::now() < until_) return wait(on_late);
      set_ = false;
      on_late();
    });
  }

  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point until_{};
  bool set_ = false;
  bool ended_ = false;
};

}  // namespace cronlatch::op::http
