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
  // The guardian starts the command. It needs /proc of this PID namespace. The wrapper's pid in the
  // plan is set here; the descriptors of the plan stay open in this process. std::nullopt with
  // errno.
  static std::optional<GuardianProcess> start(const Command& command, GuardianPlan plan);
  GuardianProcess(GuardianProcess&&) noexcept = default;
  GuardianProcess& operator=(GuardianProcess&&) noexcept = default;

  pid_t pid() const { return pid_; }
  int fd() const { return channel_.fd(); }
  void signal(int signo, Target target);
  void dismiss() const;
  std::optional<GuardianReport> next();
  // SIGKILL: the command's first process is killed with it, and the other descendants become
  // children of this process. Call before this process reaps it.
  void kill() const;
  // Rounds of SIGKILL to the tree that it has not answered.
  int unanswered() const { return unanswered_; }

 private:
  GuardianProcess(pid_t pid, GuardianChannel channel) : pid_(pid), channel_(std::move(channel)) {}

  pid_t pid_;
  GuardianChannel channel_;
  int unanswered_ = 0;
};

}  // namespace cronlatch
