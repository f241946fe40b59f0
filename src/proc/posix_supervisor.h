// SPDX-License-Identifier: Apache-2.0
// PosixSupervisor: the command as a real process: started in a group of its own, reaped with
// everything it leaves behind, signalled as a group or as a whole tree. Knows nothing of locks. One
// per process: it reaps every child there is.
#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/supervisor.h"
#include "proc/descendants.h"
#include "proc/fd.h"
#include "proc/signal_gate.h"
#include "proc/terminal.h"

namespace cronlatch {

class PosixSupervisor : public Supervisor {
 public:
  // Becomes the reaper of orphaned descendants. `gate` outlives this. Children that the process
  // already has (it was exec'ed by a shell with background jobs) are never signalled and never
  // waited for.
  explicit PosixSupervisor(SignalGate& gate);

  void start(const Command& command, int heirloom) override;
  void signal(int signo, Target target) override;
  void watch(PollSet& set) const override;
  // Order of simultaneous facts: the start, the command's end, the tree's end, signals.
  std::optional<ProcEvent> next() override;

 private:
  struct Seen;

  void collect();
  void settle_start();
  Seen reap();
  bool tree_is_empty() const;
  void report(const Seen& seen);
  void signal_group(int signo);
  void signal_tree(int signo);
  void signal_without_proc(int signo);

  SignalGate& gate_;
  Terminal terminal_;
  std::vector<Process> strangers_;
  std::deque<ProcEvent> facts_;
  Fd exec_errno_;               // open until exec has succeeded or failed
  pid_t child_ = 0;             // the command, until it is reaped
  pid_t group_ = 0;             // its process group
  std::string path_;            // of the command, for messages
  bool started_ = false;        // there has been a command: signals are meant for it
  bool awaiting_tree_ = false;  // the command has been reaped, descendants have not
};

}  // namespace cronlatch
