// SPDX-License-Identifier: Apache-2.0
// Signals to "the group" and "the tree" that reach no other process: the pid of a reaped process is
// never used while /proc is readable.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <unordered_set>
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
      if (signo == SIGKILL)
        kill_tree();
      else
        signal_tree(signo);
      return;
  }
}

void PosixSupervisor::signal_group(int signo) {
  if (child_ != 0) {
    if (signo == SIGCONT) terminal_.give_foreground(group_);
    // ESRCH: the child has not made its group yet; with a session of its own only that can.
    if (::killpg(group_, signo) != 0 && errno == ESRCH) ::kill(child_, signo);
    return;
  }
  // The leader is reaped: the number of its group may be reused as soon as the group is empty.
  const std::optional<std::vector<Process>> tree = descendants_of(::getpid(), other_children_);
  if (!tree) return;
  for (const Process& p : *tree)
    if (p.group == group_) signal_process(p, signo);
}

void PosixSupervisor::signal_tree(int signo) {
  // The later scans find what was forked during the earlier ones; each process gets the signal
  // once.
  constexpr int kScans = 3;
  DescendantScan scan(::getpid(), other_children_);
  for (int i = 0; i < kScans; ++i) {
    const std::optional<std::vector<Process>> found = scan.next();
    if (!found) return signal_without_proc(signo);
    if (found->empty()) return;
    for (const Process& p : *found)
      if (p.alive) signal_process(p, signo);
  }
}

// First what the kernel does in one step; /proc is read only where that is not enough.
void PosixSupervisor::kill_tree() {
  // A process that is blocked in the kernel must not hide one that has left the cgroup, nor a new
  // group with the same number.
  constexpr int kScanEvery = 5;
  ++kill_rounds_;
  if (is_first_process_) {
    // Also processes that entered the namespace from outside: they would end with this one anyway.
    ::kill(-1, SIGKILL);
    return;
  }
  const bool thorough = kill_rounds_ % kScanEvery == 0;
  // The group's number is the command's until the command is reaped.
  if (child_ != 0) group_killed_ = ::killpg(group_, SIGKILL) == 0;
  if (cgroup_ && cgroup_->kill() && cgroup_->is_populated() && !thorough) return;
  // Reaps what the earlier rounds have killed.
  if (kill_rounds_ > 1) collect();
  if (child_ != 0 || awaiting_tree_) kill_by_scan(group_killed_ && !thorough ? group_ : 0);
}

// Stop, so that no process replaces one that ends; then kill; then kill what was forked meanwhile.
// SIGKILL makes a fork that has begun fail, SIGSTOP does not.
void PosixSupervisor::kill_by_scan(pid_t killed_group) {
  using Steady = std::chrono::steady_clock;
  constexpr int kStopScans = 2;
  constexpr int kEmptyRounds = 2;
  constexpr std::chrono::milliseconds kLimit{200};  // renewals and signals are delayed meanwhile
  const auto end = Steady::now() + kLimit;
  DescendantScan scan(::getpid(), other_children_, killed_group);
  std::vector<Process> stopped;
  for (int i = 0; i < kStopScans; ++i) {
    const std::optional<std::vector<Process>> found = scan.next();
    if (!found) return signal_without_proc(SIGKILL);
    for (const Process& p : *found) {
      if (!p.alive) continue;
      signal_process(p, SIGSTOP);
      stopped.push_back(p);
    }
  }
  for (const Process& p : stopped) signal_process(p, SIGKILL);
  std::unordered_set<pid_t> killed;
  for (int empty = 0; empty < kEmptyRounds && Steady::now() < end;) {
    bool any = kill_new_children(killed);
    for (const Process& p : scan.next().value_or(std::vector<Process>{})) {
      if (!p.alive) continue;
      signal_process(p, SIGKILL);
      any = true;
    }
    empty = any ? 0 : empty + 1;
  }
}

// In a chain of processes that fork and exit, each one becomes a child of this process when its
// parent exits. This list is read faster than a process forks. Nothing is reaped meanwhile, so the
// pids stay valid. Returns whether a process was killed that is not in `killed`.
bool PosixSupervisor::kill_new_children(std::unordered_set<pid_t>& killed) const {
  if (!other_children_.empty()) return false;
  bool any = false;
  for (const pid_t pid : own_children()) {
    if (!killed.insert(pid).second) continue;
    ::kill(pid, SIGKILL);
    any = true;
  }
  return any;
}

void PosixSupervisor::signal_without_proc(int signo) {
  // Every other process in the PID namespace is a descendant.
  if (is_first_process_) {
    ::kill(-1, signo);
    return;
  }
  signal_group(signo);
  // The leader has ended and the members cannot be found: the group's number is all that is left.
  if (child_ == 0) ::killpg(group_, signo);
}

}  // namespace cronlatch
