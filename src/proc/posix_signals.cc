// SPDX-License-Identifier: Apache-2.0
// What is meant by "the group" and "the tree", and how a signal reaches them without reaching any
// other process: a number whose owner has been reaped is never used while /proc can tell.
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
  // The later scans are for what was forked during the earlier ones; each process gets the signal
  // once.
  constexpr int kScans = 3;
  DescendantScan scan(::getpid(), strangers_);
  for (int i = 0; i < kScans; ++i) {
    const std::optional<std::vector<Process>> found = scan.next();
    if (!found) return signal_without_proc(signo);
    if (found->empty()) return;
    for (const Process& p : *found)
      if (p.alive) signal_process(p, signo);
  }
}

// What the kernel does in one step comes first; /proc is read only where that is not enough.
void PosixSupervisor::kill_tree() {
  // A process that the kernel cannot end (it is stuck) must not hide one that has left the cgroup,
  // nor a group that got its number again.
  constexpr int kSweepAlways = 5;
  ++kills_;
  if (first_process_) {
    // Also what was brought into the namespace from outside: it would end with us a moment later.
    ::kill(-1, SIGKILL);
    return;
  }
  const bool thorough = kills_ % kSweepAlways == 0;
  // The group's number is the command's until the command is reaped.
  if (child_ != 0) group_killed_ = ::killpg(group_, SIGKILL) == 0;
  if (cgroup_ && cgroup_->kill() && cgroup_->is_populated() && !thorough) return;
  // What the earlier rounds have ended is out of the way of this one.
  if (kills_ > 1) collect();
  if (child_ != 0 || awaiting_tree_) sweep(group_killed_ && !thorough ? group_ : 0);
}

// Stop, so that nothing starts a replacement for what ends; then kill; then kill what forked
// meanwhile. SIGKILL makes a fork that has begun fail, SIGSTOP does not.
void PosixSupervisor::sweep(pid_t killed_group) {
  using Steady = std::chrono::steady_clock;
  constexpr int kStopScans = 2;
  constexpr int kEmptyRounds = 2;
  constexpr std::chrono::milliseconds kLimit{200};  // the lease and the signals wait meanwhile
  const auto end = Steady::now() + kLimit;
  DescendantScan scan(::getpid(), strangers_, killed_group);
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

// A chain of processes that fork and exit passes through our children: each one becomes ours when
// its parent exits. This list is read faster than a process forks. Nothing is reaped meanwhile, so
// the numbers stay theirs. Returns whether one was killed that is not in `killed`.
bool PosixSupervisor::kill_new_children(std::unordered_set<pid_t>& killed) const {
  if (!strangers_.empty()) return false;
  bool any = false;
  for (const pid_t pid : own_children()) {
    if (!killed.insert(pid).second) continue;
    ::kill(pid, SIGKILL);
    any = true;
  }
  return any;
}

void PosixSupervisor::signal_without_proc(int signo) {
  // Everything else in the PID namespace is below us.
  if (first_process_) {
    ::kill(-1, signo);
    return;
  }
  signal_group(signo);
  // With its leader gone and no way to find its members, a group is still the only name for what is
  // left of it.
  if (child_ == 0) ::killpg(group_, signo);
}

}  // namespace cronlatch
