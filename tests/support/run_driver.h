// SPDX-License-Identifier: Apache-2.0
// Sends events at given times to a Run and records the actions that it returns.
#pragma once

#include <string>
#include <vector>

#include "core/run.h"

namespace cronlatch::testing {

inline TimePoint at(Millis since_start) { return TimePoint{} + Seconds(1'000) + since_start; }

inline RunSpec spec_with(Millis ttl, Millis kill_after = Millis(10'000)) {
  RunSpec spec;
  spec.lock = "reports/nightly";
  spec.owner = "0123456789abcdef0123456789abcdef";
  spec.identity.holder = "host:1:boot";
  spec.timings =
      *plan_timings({.ttl = ttl, .renew_every = {}, .op_timeout = {}, .kill_after = kill_after});
  spec.kill_after = kill_after;
  spec.connect_timeout = Millis(5'000);
  spec.grace_period = Millis(30'000);
  return spec;
}

class RunDriver {
 public:
  explicit RunDriver(RunSpec spec) : run(std::move(spec)) {}

  // Sends one event; `last` contains the returned actions.
  RunDriver& on(Millis when, const Event& event) {
    now = at(when);
    last = run.on(event, now);
    for (const Action& a : last) all.push_back(a);
    return *this;
  }
  // Sends a Tick at each time that wake_at() returns until `when`, and one at `when`.
  RunDriver& tick_until(Millis when) {
    last.clear();
    for (int guard = 0; guard < 100'000; ++guard) {
      const auto wake = run.wake_at();
      const TimePoint next = wake && *wake < at(when) ? std::max(*wake, now) : at(when);
      now = next;
      for (Action& a : run.on(Tick{}, now)) {
        all.push_back(a);
        last.push_back(std::move(a));
      }
      if (now == at(when)) break;
    }
    return *this;
  }
  RunDriver& granted(Millis when = Millis(0)) {
    return on(when, Granted{.fence = 7, .sent_at = at(when)});
  }
  RunDriver& up_to_running() {
    on(Millis(0), Begin{});
    granted();
    return on(Millis(0), ChildStarted{});
  }

  template <class T>
  std::vector<T> actions() const {
    std::vector<T> found;
    for (const Action& a : last)
      if (const T* t = std::get_if<T>(&a)) found.push_back(*t);
    return found;
  }
  template <class R>
  const R* last_request() const {
    for (const Action& a : last)
      if (const StoreRequest* ask = std::get_if<StoreRequest>(&a))
        if (const R* r = std::get_if<R>(&ask->request)) return r;
    return nullptr;
  }
  bool sent_signal(int signo, Target target) const {
    for (const SendSignal& d : actions<SendSignal>())
      if (d.signo == signo && d.target == target) return true;
    return false;
  }
  bool logged(const std::string& event) const {
    for (const LogLine& line : actions<LogLine>())
      if (line.event == event) return true;
    return false;
  }
  bool launched() const { return !actions<Launch>().empty(); }
  bool finished() const { return !actions<Finish>().empty(); }
  const Outcome& outcome() const { return *run.outcome(); }

  Run run;
  TimePoint now{};
  std::vector<Action> last, all;
};

}  // namespace cronlatch::testing
