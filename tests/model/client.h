// SPDX-License-Identifier: Apache-2.0
// Client: one Run in its own host, with its clock, its connection and its command.
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

  // the connection: the store's clock as last heard, and the question that is out
  bool connected = false;
  std::int64_t cut_until = 0;  // its messages are lost until then
  ServerTime heard{};
  TimePoint heard_at{};
  std::uint64_t question = 0;  // answers to older ones go nowhere
  bool just_granted = false;

  // the command: a main process, and perhaps one that outlives it
  bool main_lives = false, other_lives = false, has_other = false;
  bool obeys_term = true;
  int exit_code = 0;
  bool tree_lives() const { return main_lives || other_lives; }
};

}  // namespace cronlatch::model
