// SPDX-License-Identifier: Apache-2.0
// Who is meant by "the group" and "the tree", and how a signal reaches them without reaching
// anybody else: a number whose owner has been reaped is never used while /proc can tell.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <vector>

#include "proc/posix_supervisor.h"

namespace cronlatch {

void PosixSupervisor::signal(int signo, Target target) {
  if (group_ == 0) return;
  switch (target) {
    case Target::group:
      signal_group(signo);
      return;
    case Target::tree:
      signal_tree(signo);
      return;
  }
}

void PosixSupervisor::signal_group(int signo) {
  if (child_ != 0) {
    if (signo == SIGCONT) terminal_.lend(group_);
    // ESRCH: the child has not made its group yet; with a session of its own only it can.
    if (::killpg(group_, signo) != 0 && errno == ESRCH) ::kill(child_, signo);
    return;
  }
  // The leader is reaped: the number of its group may belong to others as soon as the group is
  // empty.
  const std::optional<std::vector<Process>> tree = descendants_of(::getpid(), strangers_);
  if (!tree) return;
  for (const Process& p : *tree)
    if (p.group == group_) signal_process(p, signo);
}

void PosixSupervisor::signal_tree(int signo) {
  // The second scan is for what was forked during the first; nobody is signalled twice.
  constexpr int kScans = 2;
  std::vector<Process> told = strangers_;
  const auto is_told = [&told](const Process& p) {
    for (const Process& other : told)
      if (other.same_as(p)) return true;
    return false;
  };
  for (int i = 0; i < kScans; ++i) {
    const std::optional<std::vector<Process>> tree = descendants_of(::getpid(), strangers_);
    if (!tree) {
      signal_without_proc(signo);
      return;
    }
    for (const Process& p : *tree) {
      if (is_told(p)) continue;
      signal_process(p, signo);
      told.push_back(p);
    }
  }
}

void PosixSupervisor::signal_without_proc(int signo) {
  // As first process of a PID namespace everything else in it is below us.
  if (::getpid() == 1 && strangers_.empty()) {
    ::kill(-1, signo);
    return;
  }
  signal_group(signo);
  // With its leader gone and no way to look, a group is still the only name for what is left of it.
  if (child_ == 0) ::killpg(group_, signo);
}

}  // namespace cronlatch
