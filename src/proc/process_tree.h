// SPDX-License-Identifier: Apache-2.0
// ProcessTree: the command and its descendants, as seen by the process that reaps them. A signal
// reaches no other process: while /proc is readable, the pid of a reaped process is never used.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "proc/descendants.h"
#include "proc/own_cgroup.h"

namespace cronlatch {

// waitid reports a child of this process, which it does not reap.
bool has_children();

class ProcessTree {
 public:
  // Children that this process already has (it was exec'ed by a shell with background jobs) never
  // belong to the tree.
  ProcessTree();

  // The first process of its PID namespace, without other children: every other process in this
  // PID namespace is a descendant, or entered from outside (nsenter, kubectl exec).
  bool is_below_first_process() const { return is_first_process_; }

  // The command was started and leads its process group.
  void begin(pid_t leader);
  // The command could not be executed.
  void clear() { leader_ = group_ = 0; }
  // The command is reaped: from now on its pid may be reused.
  void leader_reaped() { leader_ = 0; }
  pid_t leader() const { return leader_; }  // the command, until it is reaped
  pid_t group() const { return group_; }    // its process group

  // The cgroup in which the command starts.
  std::optional<OwnCgroup>& cgroup() { return cgroup_; }

  // No descendant is left. Called only while this process has children: they belong to the tree,
  // unless some existed before.
  bool is_empty() const;

  // A target that has ended is not an error.
  void signal_group(int signo);
  // A process gets the signal before its children: it cannot act on their end without it.
  void signal_tree(int signo);
  // SIGKILL, what the kernel does in one step. True: it reaches every process of the tree;
  // otherwise kill_by_scan() reaches the others.
  bool kill_in_one_step();
  void kill_by_scan();
  // A round of SIGKILL came before: it may have left processes to reap.
  bool is_killed_again() const { return kill_rounds_ > 1; }

 private:
  using Steady = std::chrono::steady_clock;
  bool is_killed(const Process& process) const;
  void kill(const Process& process);
  // Whether a process was found that had no SIGKILL.
  bool kill_found(DescendantScan& scan, pid_t killed_group);
  bool kill_new_children(std::unordered_set<pid_t>& killed, pid_t killed_group) const;
  void signal_without_proc(int signo);

  std::vector<Process> other_children_;  // that this process had before
  bool is_first_process_ = false;
  std::optional<OwnCgroup> cgroup_;
  pid_t leader_ = 0;
  pid_t group_ = 0;
  int kill_rounds_ = 0;                              // rounds of SIGKILL to this tree
  bool group_killed_ = false;                        // in one of them, while its number was valid
  bool thorough_scan_due_ = false;                   // also of what is in the killed group
  std::unordered_map<pid_t, std::uint64_t> killed_;  // by a scan: start time by pid
  Steady::time_point next_scan_{};
};

}  // namespace cronlatch
