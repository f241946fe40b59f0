// SPDX-License-Identifier: Apache-2.0
// The descendants of a process, read from /proc, and signals to them that cannot reach another
// process with a reused pid.
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
  bool alive = false;            // at least one of its threads has not ended
  bool stopped = false;          // by a signal or by a debugger
  std::uint64_t start_time = 0;  // clock ticks since boot; unique together with the pid
  bool same_as(const Process& other) const {
    return pid == other.pid && start_time == other.start_time;
  }
};

// std::nullopt when the process has ended or /proc cannot be read.
std::optional<Process> read_process(pid_t pid);

// /proc is mounted and shows the PID namespace of this process.
bool proc_shows_own_namespace();

// Finds the descendants of a process in several scans. A scan reads only the processes that the
// earlier ones have not seen, so that the second one costs little.
class DescendantScan {
 public:
  // Leaves out `excluded` with their descendants, and the members of process group `done_group`,
  // which have the signal already. `excluded` outlives this.
  DescendantScan(pid_t root, const std::vector<Process>& excluded, pid_t done_group = 0)
      : root_(root), excluded_(excluded), done_group_(done_group) {}

  // The descendants that no earlier scan has returned, the newest pid first, zombies included.
  // std::nullopt when /proc is not mounted or shows another PID namespace.
  std::optional<std::vector<Process>> next();

 private:
  enum class Kinship { unknown, descendant, not_descendant };
  struct Entry {
    Process process;
    Kinship kinship = Kinship::unknown;
    bool returned = false;  // or found to be no descendant
  };

  bool is_new(pid_t pid) const;
  bool is_excluded(const Process& process) const;
  Entry* read(pid_t pid);
  Kinship kinship_of(Entry& entry);

  pid_t root_;
  const std::vector<Process>& excluded_;
  pid_t done_group_;
  std::unordered_map<pid_t, Entry> seen_;
};

// The descendants of `root`, without `excluded` and theirs; zombies included. std::nullopt
// when /proc is not mounted or shows another PID namespace.
std::optional<std::vector<Process>> descendants_of(pid_t root,
                                                   const std::vector<Process>& excluded);

// The children of this process, zombies included; empty where the kernel has no such list. Cheap:
// its cost does not depend on how many processes the host has.
std::vector<pid_t> own_children();

// Processes and threads of the whole host: /proc/loadavg, or else sysinfo(2), which counts to
// 65,535.
std::optional<std::size_t> tasks_of_host();

// Signals exactly this process. False: it has ended, or this user may not signal it.
bool signal_process(const Process& process, int signo);

}  // namespace cronlatch
