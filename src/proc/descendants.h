// SPDX-License-Identifier: Apache-2.0
// The processes below one process, read from /proc, and signals to them that cannot hit a stranger
// who got the same number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace cronlatch {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t born = 0;  // clock ticks since boot: with the pid, an identity
  bool same_as(const Process& other) const { return pid == other.pid && born == other.born; }
};

// One process, or nothing when it is gone or /proc cannot be read.
std::optional<Process> read_process(pid_t pid);

// Everything below `root`, without `strangers` and what is below them; zombies included. Nothing
// when /proc is not mounted or shows another PID namespace.
std::optional<std::vector<Process>> descendants_of(pid_t root,
                                                   const std::vector<Process>& strangers);

// Signals exactly this process; when it is gone, nobody.
void signal_process(const Process& process, int signo);

}  // namespace cronlatch
