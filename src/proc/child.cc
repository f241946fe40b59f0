// SPDX-License-Identifier: Apache-2.0
// The child's side of starting the command: its group, its terminal, its signals, then execve.
#include "proc/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cronlatch {
namespace {

constexpr char kShell[] = "/bin/sh";

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

void apply_placement(const ChildPlan& plan) {
  switch (plan.placement) {
    case Placement::new_session:
      ::setsid();
      return;
    case Placement::background_group:
      ::setpgid(0, 0);
      return;
    case Placement::foreground_group:
      ::setpgid(0, 0);
      // SIGTTOU is blocked still, so this works from what is now a background group (tcsetpgrp(3)).
      ::tcsetpgrp(plan.terminal, ::getpgrp());
      return;
  }
}

}  // namespace

ExecImage::ExecImage(const Command& command)
    : path_(command.path.c_str()), argv_(pointers(command.argv)), env_(pointers(command.env)) {
  shell_argv_ = {const_cast<char*>(kShell), const_cast<char*>(path_)};
  shell_argv_.insert(shell_argv_.end(), argv_.begin() + 1, argv_.end());
}

int ExecImage::exec() const {
  ::execve(path_, argv_.data(), env_.data());
  if (errno != ENOEXEC) return errno;
  ::execve(kShell, shell_argv_.data(), env_.data());
  return errno;
}

void exec_command(const ChildPlan& plan) {
  apply_placement(plan);
  // When the wrapper is killed, the command must not continue without its lock. The parent may have
  // ended before this call.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != plan.parent) ::_exit(128 + SIGKILL);
  // Only here: no other program must inherit the lock's descriptor.
  if (plan.inherited_fd >= 0) ::fcntl(plan.inherited_fd, F_SETFD, 0);
  // Last, because a pending signal may end the child here.
  plan.signals.restore();
  const int failed = plan.image.exec();
  ssize_t written = 0;
  do written = ::write(plan.error_pipe, &failed, sizeof failed);
  while (written < 0 && errno == EINTR);
  ::_exit(127);
}

}  // namespace cronlatch
