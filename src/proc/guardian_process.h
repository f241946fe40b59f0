// SPDX-License-Identifier: Apache-2.0
// GuardianProcess: the wrapper's side of its guardian (guardian.h).
#pragma once

#include <sys/types.h>

#include <optional>

#include "core/supervisor.h"
#include "proc/guardian_channel.h"

namespace cronlatch {

class GuardianProcess {
 public:
  // It inherits these descriptors of the plan, and waits for launch(). It needs /proc of this PID
  // namespace. std::nullopt with errno.
  static std::optional<GuardianProcess> start(int kill_timer, int cgroup);
  GuardianProcess(GuardianProcess&&) noexcept = default;
  GuardianProcess& operator=(GuardianProcess&&) noexcept = default;

  pid_t pid() const { return pid_; }
  int fd() const { return channel_.fd(); }
  // Once. The command is started with these signals and in this place. False with errno.
  bool launch(const Command& command, const OriginalSignals& signals, Placement placement);
  void signal(int signo, Target target);
  std::optional<GuardianReport> next();
  // SIGKILL: the command's first process is killed with it, and the other descendants become
  // children of this process. Call before this process reaps it.
  void kill() const;
  // After the command has ended. Its other descendants become children of this process. Reaps it,
  // so that it is no background process of this run for an outer run.
  void end() const;
  // Something holds it that SIGCHLD does not report (a debugger), so that it does not kill the
  // tree.
  bool is_held() const;

 private:
  GuardianProcess(pid_t pid, GuardianChannel channel, Fd command, const GuardianPlan& plan)
      : pid_(pid), channel_(std::move(channel)), command_(std::move(command)), plan_(plan) {}

  pid_t pid_;
  GuardianChannel channel_;
  Fd command_;
  GuardianPlan plan_;
  int unanswered_ = 0;  // rounds of SIGKILL to the tree
};

}  // namespace cronlatch
