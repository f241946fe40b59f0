// SPDX-License-Identifier: Apache-2.0
// What `run` would do if it started now, from the state of the lock. Pure, and only a forecast:
// another run may acquire the lock first.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/lock_stats.h"
#include "options/options.h"

namespace cronlatch {

enum class Decision {
  start,    // acquire the lock and start the command
  skip,     // start nothing, exit-skipped
  wait,     // until the lock is free or wait-timeout has passed
  fail,     // busy, exit 75
  ungated,  // the store is unavailable: start without a lock
  retry,    // the store is unavailable: retry until it replies or wait-timeout has passed
  refuse,   // the store is unavailable or refuses the user: exit at once
  unknown,  // the user may not read the lock; a run needs other rights
};
std::string_view name_of(Decision decision);

struct Forecast {
  Decision decision = Decision::start;
  int exit_code = 0;     // skip, fail, refuse: what `run` would exit with
  std::string sentence;  // for the user
};

Forecast forecast(const LockView& view, const Options& options);

// With a store that grants nothing for this time (option strict).
Forecast in_quarantine(Forecast forecast, Micros remaining, const Options& options);

// The state of the lock could not be read.
Forecast forecast(const Error& error, const Options& options);

}  // namespace cronlatch
