// SPDX-License-Identifier: Apache-2.0
// `cronlatch sleep DURATION`: the command of `cronlatch hold`, so that it needs no other program.
#include <cerrno>
#include <ctime>

#include "base/duration.h"
#include "cli/subcommand.h"

namespace cronlatch {

Result<CommandOutput> sleep_command(const Invocation& invocation) {
  if (invocation.arguments.size() != 1)
    return Error{Code::usage, "sleep takes one duration", "write: cronlatch sleep 30s"};
  const Result<Millis> duration = parse_duration(invocation.arguments.front());
  if (!duration) return duration.error();
  // CLOCK_BOOTTIME, as the lease: the time of a suspended host counts.
  const auto end = (invocation.clock.now() + *duration).time_since_epoch();
  const Seconds seconds = std::chrono::duration_cast<Seconds>(end);
  timespec until{};
  until.tv_sec = seconds.count();
  until.tv_nsec = std::chrono::nanoseconds(end - seconds).count();
  while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
  return CommandOutput{};
}

}  // namespace cronlatch
