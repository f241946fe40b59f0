// SPDX-License-Identifier: Apache-2.0
// The results that a run writes at its end: the metrics file or the push, the outcome file and,
// with log-format json, the outcome as the last log line. A failure here is a warning and never
// changes the exit code.
#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "cli/subcommand.h"
#include "core/lock_stats.h"
#include "core/outcome.h"
#include "options/options.h"

namespace cronlatch {

// `lock_stats` is null where no store could be opened. Returns the exit code.
int report(const Outcome& outcome, const Options& options, LockStats* lock_stats, const Log& log,
           const Clock& clock);

// For options that could not be loaded: log line, outcome file and outcome, as far as a flag or a
// variable contains `log-format` and `outcome-file`.
Outcome report_unloadable(const Error& error, const Invocation& invocation, const Log::Sink& sink);

// The outcome of an error before the first request to the store; and its log line.
Outcome outcome_of(const Error& error, const Options& options, WallTime started);
LogLine line_of(const Outcome& outcome);

}  // namespace cronlatch
