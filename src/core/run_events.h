// SPDX-License-Identifier: Apache-2.0
// The events that Run receives, the actions that it returns, and its phases.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/log.h"
#include "core/store.h"
#include "core/supervisor.h"

namespace cronlatch {

struct Begin {};
struct Tick {};
// The lock was reserved for this run while it waits (Store::listen).
struct Woken {};
using Event = std::variant<Begin, Tick, Granted, Busy, Renewed, NotHolder, Released, TooLate,
                           Unavailable, ChildStarted, CannotStart, ChildExited, TreeEmpty,
                           SignalArrived, TasksCounted, GuardianEnded, Quarantined, Woken>;

struct StoreRequest {
  Request request;
};
enum class Program { command, skip_command };
struct Launch {
  Program program = Program::command;
  Fence fence = 0;  // zero: ungated, or the skip command
};
struct SendSignal {
  int signo = 0;
  Target target = Target::group;
};
// The time at which the tree must be killed unless the lease is renewed before; nothing: no lease,
// or `on-lost` does not kill (Supervisor::kill_by).
struct SetKillTime {
  std::optional<TimePoint> at;
};
// The time that a kill needs depends on the number of processes and threads (lease.h, reap_time).
struct CountTasks {};
// Until the next acquire of a run that waits (Store::listen).
struct Listen {
  std::string lock, owner;
  TimePoint until{};
};
struct Finish {};
using Action = std::variant<StoreRequest, Launch, SendSignal, SetKillTime, CountTasks, Listen,
                            LogLine, Finish>;

enum class Phase {
  idle,       // before Begin
  acquiring,  // an acquire is in flight
  pausing,    // busy: waiting until the next acquire
  retrying,   // the store is unavailable: waiting until the next acquire
  canceling,  // a signal arrived while an acquire was in flight; its grant is released
  starting,   // granted (or ungated): the command is being executed
  running,    // the command runs
  lingering,  // the command has exited, descendants run
  releasing,  // no process is left; the lock is released
  skipping,   // the skip command runs
  finished,
};

}  // namespace cronlatch
