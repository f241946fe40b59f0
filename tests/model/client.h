// SPDX-License-Identifier: Apache-2.0
// Client: one Run on its own host, with a clock, a connection and a command.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "core/run.h"

namespace cronlatch::model {

// A host's clock: true time times a rate, plus an offset. Rates differ by at most 1 % between any
// two hosts (A2).
struct HostClock {
  double rate = 1.0;
  std::int64_t offset_us = 0;
  TimePoint at(std::int64_t true_us) const {
    return TimePoint{} +
           Micros(offset_us + static_cast<std::int64_t>(static_cast<double>(true_us) * rate));
  }
  std::int64_t true_at(TimePoint t) const {
    return static_cast<std::int64_t>(static_cast<double>(t.time_since_epoch().count() - offset_us) /
                                     rate) +
           1;
  }
};

struct Client {
  int id = 0;
  HostClock clock;
  RunSpec spec;
  std::unique_ptr<Run> run;
  bool finished = false, crashed = false;
  std::int64_t ended_at = 0;  // true time of the crash or the end; 0: not yet
  std::int64_t paused_until = 0;
  std::deque<Event> while_paused;
  std::uint64_t wake_generation = 0;

  // the connection: the last known time of the store, and the number of the open request
  bool connected = false;
  std::int64_t cut_until = 0;  // its messages are dropped until this time
  ServerTime store_time{};
  TimePoint store_time_at{};
  std::uint64_t request_number = 0;  // answers to earlier requests are dropped
  bool just_granted = false;

  // the command: a main process, and optionally a background process
  bool main_alive = false, background_alive = false, has_background = false;
  bool exits_on_term = true;
  int exit_code = 0;
  bool tree_alive() const { return main_alive || background_alive; }
};

}  // namespace cronlatch::model
