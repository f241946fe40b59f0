// SPDX-License-Identifier: Apache-2.0
// What `run` would do if it started now, from what the ledger shows. Pure, and only a forecast:
// another run may be faster.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/lock_stats.h"
#include "options/options.h"

namespace cronlatch {

enum class Decision {
  start,    // take the lock and start the command
  skip,     // leave it alone, exit-skipped
  wait,     // until the lock is free or wait-timeout has passed
  fail,     // busy, exit 75
  ungated,  // the store is down: start without a lock
  retry,    // the store is down: ask again until it answers or wait-timeout has passed
  refuse,   // the store is down or refuses us: exit at once
};
std::string_view name_of(Decision decision);

struct Forecast {
  Decision decision = Decision::start;
  int exit_code = 0;     // skip, fail, refuse: what `run` would exit with
  std::string sentence;  // for people
};

Forecast forecast(const LockView& view, const Options& options);

// The store did not answer the ledger's question.
Forecast forecast(const Error& trouble, const Options& options);

}  // namespace cronlatch
