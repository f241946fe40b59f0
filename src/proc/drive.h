// SPDX-License-Identifier: Apache-2.0
// drive: the only loop of the wrapper and its only blocking call. Passes events of the store, the
// supervisor and the clock to Run and executes Run's actions; it decides nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/outcome.h"
#include "core/run.h"
#include "core/store.h"
#include "core/supervisor.h"

namespace cronlatch {

// What Run may launch. An Error instead of a command (resolve_command) becomes the event
// CannotStart.
struct Programs {
  Result<Command> command;
  Result<Command> skip_command;  // unused when RunSpec::has_skip_command is false
  // NAME=value entries added to the command's environment for this fence (zero: ungated); may be
  // empty.
  std::function<std::vector<std::string>(Fence)> additions;
};

// Runs from Begin to Finish and returns Run's outcome.
Outcome drive(Run& run, Store& store, Supervisor& supervisor, const Clock& clock, const Log& log,
              Programs programs);

}  // namespace cronlatch
