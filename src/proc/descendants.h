// SPDX-License-Identifier: Apache-2.0
// The processes below one process, read from /proc, and signals to them that cannot hit another
// process with a reused number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cronlatch {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  bool alive = false;      // at least one of its threads has not ended
  std::uint64_t born = 0;  // clock ticks since boot: with the pid, an identity
  bool same_as(const Process& other) const { return pid == other.pid && born == other.born; }
};

// One process, or nothing when it is gone or /proc cannot be read.
std::optional<Process> read_process(pid_t pid);

// /proc is mounted and shows the PID namespace of this process.
bool proc_is_ours();

// Finds the descendants of a process in several scans. A scan reads only the processes that the
// earlier ones have not seen, so that the second one costs little.
class DescendantScan {
 public:
  // `strangers` and what is below them are left out. `strangers` outlives this. So are the members
  // of process group `ended_group`, which are not even read: they have been killed already.
  DescendantScan(pid_t root, const std::vector<Process>& strangers, pid_t ended_group = 0)
      : root_(root), strangers_(strangers), ended_group_(ended_group) {}

  // The descendants that no earlier scan has returned, the newest pid first, zombies included.
  // Nothing when /proc is not mounted or shows another PID namespace.
  std::optional<std::vector<Process>> next();

 private:
  enum class Kin { unknown, ours, not_ours };
  struct Entry {
    Process process;
    Kin kin = Kin::unknown;
    bool returned = false;  // or found to be no descendant
  };

  bool is_new(pid_t pid) const;
  bool is_stranger(const Process& process) const;
  Entry* read(pid_t pid);
  Kin kin_of(Entry& entry);

  pid_t root_;
  const std::vector<Process>& strangers_;
  pid_t ended_group_;
  std::unordered_map<pid_t, Entry> seen_;
};

// Everything below `root`, without `strangers` and what is below them; zombies included. Nothing
// when /proc is not mounted or shows another PID namespace.
std::optional<std::vector<Process>> descendants_of(pid_t root,
                                                   const std::vector<Process>& strangers);

// The children of this process, zombies included; empty where the kernel has no such list. Cheap:
// its cost does not depend on how many processes the host has.
std::vector<pid_t> own_children();

// Processes and threads of the whole host: /proc/loadavg, or else sysinfo(2), which counts to 65,535.
std::optional<std::size_t> tasks_of_host();

// Signals exactly this process; does nothing when it is gone.
void signal_process(const Process& process, int signo);

}  // namespace cronlatch
