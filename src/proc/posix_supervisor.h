// SPDX-License-Identifier: Apache-2.0
// PosixSupervisor: the command as a real process: started in a group of its own, reaped with its
// background processes, signaled as a group or as a whole tree. It has no access to locks. One per
// process: it reaps every child.
#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>
#include <string>

#include "base/fd.h"
#include "core/supervisor.h"
#include "proc/boot_timer.h"
#include "proc/child_reaper.h"
#include "proc/guardian_process.h"
#include "proc/process_tree.h"
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

// Whether a guardian (guardian.h) is the parent of the command. It is never needed by process 1 of
// a PID namespace, whose end ends the namespace, and needs /proc.
enum class Guarding { none, where_needed };

class PosixSupervisor : public Supervisor {
 public:
  // Becomes the reaper of orphaned descendants. `signals` outlives this. Children that the process
  // already has (it was exec'ed by a shell with background jobs) are never signaled and never
  // waited for.
  explicit PosixSupervisor(SignalReader& signals, Containment containment = Containment::none,
                           Guarding guarding = Guarding::none);
  // Ends the guardian. What is left of the tree (leftovers=leave) lives on.
  ~PosixSupervisor() override;

  void start(const Command& command, int inherited_fd) override;
  void signal(int signo, Target target) override;
  // Creates the command's cgroup before the start and removes it after the end.
  void prepare() override;
  // All of the host: an upper bound at the cost of one small file.
  void count_tasks() override;
  void kill_by(std::optional<TimePoint> when) override;
  void watch(PollSet& set) const override;
  // Order of simultaneous events: the start, the command's end, the tree's end, signals.
  std::optional<ProcEvent> next() override;

 private:
  // What one round of waits has found.
  struct Reaped {
    std::optional<int> exit_code;  // of the command
    int stopped_by = 0;            // the command is stopped
    bool no_children = false;
  };

  void create_cgroup();
  void collect();
  void start_directly(const Command& command, int inherited_fd, Placement placement);
  void finish_start();
  Reaped reap();
  void report(Reaped reaped);
  void command_exited(int code, bool tree_empty);
  void command_stopped(int signo);
  void cannot_start(const Error& error);
  void kill_tree();

  // With a guardian (posix_supervisor_guardian.cc).
  void create_guardian();
  void start_with_guardian(const Command& command, Placement placement);
  void take_reports();
  void take(const GuardianReport& report);
  void guardian_changed(bool has_ended);
  void guardian_lost(Reaped& reaped);

  SignalReader& signals_;
  Terminal terminal_;
  Containment containment_;
  ProcessTree tree_;
  ChildReaper reaper_;
  bool cgroup_tried_ = false;
  std::deque<ProcEvent> events_;
  Fd exec_errno_;               // open until exec has succeeded or failed
  std::string path_;            // of the command, for messages
  bool started_ = false;        // the command was started: signals are for it
  bool awaiting_tree_ = false;  // the command has been reaped, descendants have not

  std::optional<BootTimer> kill_timer_;      // where a guardian is needed
  std::optional<GuardianProcess> guardian_;  // until it has ended
  bool guardian_lost_ = false;               // it has ended before the tree
  bool is_foreground_ = false;               // the command is started in the foreground
  bool start_reported_ = false;              // by the guardian
  int stopped_by_ = 0;                       // reported by the guardian, to be handled
  std::optional<int> exit_code_;             // reported by the guardian, before it reaps
};

}  // namespace cronlatch
