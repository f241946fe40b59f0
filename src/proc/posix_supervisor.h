// SPDX-License-Identifier: Apache-2.0
// PosixSupervisor: the command as a real process: started in a group of its own, reaped with its
// background processes, signaled as a group or as a whole tree. It has no access to locks. One per
// process: it reaps every child.
#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/fd.h"
#include "core/supervisor.h"
#include "proc/descendants.h"
#include "proc/own_cgroup.h"
#include "proc/signal_reader.h"
#include "proc/terminal.h"

namespace cronlatch {

// A signal to the tree can reach every descendant of a command that this process starts: it is the
// first process of a PID namespace, or /proc shows its PID namespace. Otherwise a descendant that
// leaves the command's process group is out of reach.
bool can_reach_descendants();

// Whether the command gets a cgroup of its own where that is possible. It costs a system call or
// two of each run, and makes a kill certain that a scan of /proc only makes very likely.
enum class Containment { none, cgroup };

class PosixSupervisor : public Supervisor {
 public:
  // Becomes the reaper of orphaned descendants. `signals` outlives this. Children that the process
  // already has (it was exec'ed by a shell with background jobs) are never signaled and never
  // waited for.
  explicit PosixSupervisor(SignalReader& signals, Containment containment = Containment::none);

  void start(const Command& command, int inherited_fd) override;
  void signal(int signo, Target target) override;
  // Creates the command's cgroup before the start and removes it after the end.
  void prepare() override;
  // All of the host: an upper bound at the cost of one small file.
  void count_tasks() override;
  void watch(PollSet& set) const override;
  // Order of simultaneous events: the start, the command's end, the tree's end, signals.
  std::optional<ProcEvent> next() override;

 private:
  struct Reaped;

  void create_cgroup();
  void collect();
  void finish_start();
  Reaped reap();
  bool tree_is_empty() const;
  void report(const Reaped& reaped);
  void signal_group(int signo);
  void signal_tree(int signo);
  void kill_tree();
  void kill_by_scan(pid_t killed_group);
  bool kill_new_children(std::unordered_set<pid_t>& killed) const;
  void signal_without_proc(int signo);

  SignalReader& signals_;
  Terminal terminal_;
  Containment containment_;
  // Every other process in this PID namespace is a descendant, or entered from outside (nsenter,
  // kubectl exec).
  bool is_first_process_ = false;
  std::vector<Process> other_children_;  // that this process had before
  std::optional<OwnCgroup> cgroup_;
  bool cgroup_tried_ = false;
  int kill_rounds_ = 0;        // rounds of SIGKILL to this tree
  bool group_killed_ = false;  // in one of them, while its number was valid
  std::deque<ProcEvent> events_;
  Fd exec_errno_;               // open until exec has succeeded or failed
  pid_t child_ = 0;             // the command, until it is reaped
  pid_t group_ = 0;             // its process group
  std::string path_;            // of the command, for messages
  bool started_ = false;        // the command was started: signals are for it
  bool awaiting_tree_ = false;  // the command has been reaped, descendants have not
};

}  // namespace cronlatch
