// SPDX-License-Identifier: Apache-2.0
// PacedApi: the API server with a bounded rate of calls. A call beyond the rate waits on its
// thread. Watches are not limited. Thread rule: as kube::Api.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "kube/api.h"

namespace cronlatch::op {

struct CallRate {
  int per_second = 1;
  int burst = 1;  // calls that need not wait after a time without calls
};

class PacedApi final : public kube::Api {
 public:
  using Pause = std::function<void(Micros)>;

  // `api` and `clock` must outlive the object.
  PacedApi(
      kube::Api& api, CallRate rate, const Clock& clock,
      Pause pause = [](Micros time) { std::this_thread::sleep_for(time); })
      : api_(api),
        interval_(Micros(1'000'000) / rate.per_second),
        burst_(interval_ * rate.burst),
        clock_(clock),
        pause_(std::move(pause)) {}

  Result<kube::Response> call(const kube::Request& request) override {
    if (const Micros wait = reserve(); wait > Micros(0)) pause_(wait);
    return api_.call(request);
  }
  Result<kube::Response> watch(const kube::Request& request,
                               const std::function<void(const kube::WatchEvent&)>& on_event,
                               std::stop_token stop) override {
    return api_.watch(request, on_event, std::move(stop));
  }

 private:
  // The time until the next free slot.
  Micros reserve() {
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.now();
    next_ = std::max(next_, now + interval_ - burst_);
    const auto wait = std::chrono::duration_cast<Micros>(next_ - now);
    next_ += interval_;
    return wait;
  }

  kube::Api& api_;
  const Micros interval_, burst_;
  const Clock& clock_;
  const Pause pause_;
  std::mutex mutex_;
  TimePoint next_{};
};

}  // namespace cronlatch::op
