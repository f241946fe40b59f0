// SPDX-License-Identifier: Apache-2.0
// Signals to the command's group and to the whole tree.
#include "proc/process_tree.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cronlatch {
namespace {

// A parent starts before its children. The pid decides within one tick of the clock.
void sort_parents_first(std::vector<Process>& processes) {
  std::sort(processes.begin(), processes.end(), [](const Process& a, const Process& b) {
    return std::pair(a.start_time, a.pid) < std::pair(b.start_time, b.pid);
  });
}

}  // namespace

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

ProcessTree::ProcessTree() {
  const bool has_other_children = has_children();
  is_first_process_ = ::getpid() == 1 && !has_other_children;
  if (has_other_children)
    other_children_ = descendants_of(::getpid(), {}).value_or(std::vector<Process>{});
}

void ProcessTree::begin(pid_t leader) {
  leader_ = group_ = leader;
  kill_rounds_ = 0;
  group_killed_ = false;
  thorough_scan_due_ = false;
  killed_.clear();
  next_scan_ = {};
}

bool ProcessTree::is_empty() const {
  if (other_children_.empty()) return false;
  const std::optional<std::vector<Process>> tree = descendants_of(::getpid(), other_children_);
  return tree && tree->empty();
}

void ProcessTree::signal_group(int signo) {
  if (leader_ != 0) {
    // ESRCH: the child has not made its group yet; with a session of its own only that can.
    if (::killpg(group_, signo) != 0 && errno == ESRCH) ::kill(leader_, signo);
    return;
  }
  // The leader is reaped: the number of its group may be reused as soon as the group is empty.
  std::optional<std::vector<Process>> tree = descendants_of(::getpid(), other_children_);
  if (!tree) return;
  sort_parents_first(*tree);
  for (const Process& p : *tree)
    if (p.group == group_) signal_process(p, signo);
}

// A script must not notice the end of its child, and start its next command, before it has the
// signal: the group gets it in one step, the others get it before their children.
void ProcessTree::signal_tree(int signo) {
  if (!proc_shows_own_namespace()) return signal_without_proc(signo);
  const bool has_group = leader_ != 0 && ::killpg(group_, signo) == 0;
  // The later scans find what was forked during the earlier ones; each process gets the signal
  // once, or twice if it has left the group meanwhile.
  constexpr int kScans = 3;
  DescendantScan scan(::getpid(), other_children_, has_group ? group_ : 0);
  for (int i = 0; i < kScans; ++i) {
    std::optional<std::vector<Process>> found = scan.next();
    if (!found) return signal_without_proc(signo);
    if (found->empty()) return;
    sort_parents_first(*found);
    for (const Process& p : *found)
      if (p.alive) signal_process(p, signo);
  }
}

bool ProcessTree::kill_in_one_step() {
  // A process that is blocked in the kernel must not hide one that has left the cgroup, nor a new
  // group with the same number.
  constexpr int kThoroughEvery = 5;
  const bool is_thorough = ++kill_rounds_ % kThoroughEvery == 0;
  thorough_scan_due_ = thorough_scan_due_ || is_thorough;
  if (is_first_process_) {
    // Also processes that entered the namespace from outside: they would end with this one anyway.
    ::kill(-1, SIGKILL);
    return true;
  }
  // The group's number is the command's until the command is reaped.
  if (leader_ != 0) group_killed_ = ::killpg(group_, SIGKILL) == 0;
  return cgroup_ && cgroup_->kill() && cgroup_->is_populated() && !is_thorough;
}

bool ProcessTree::is_killed(const Process& process) const {
  const auto at = killed_.find(process.pid);
  return at != killed_.end() && at->second == process.start_time;
}

void ProcessTree::kill(const Process& process) {
  if (signal_process(process, SIGKILL)) killed_[process.pid] = process.start_time;
}

// Stop, so that no process replaces one that ends; then kill; then kill what was forked meanwhile.
// SIGKILL makes a fork that has begun fail, SIGSTOP does not.
bool ProcessTree::kill_found(DescendantScan& scan, pid_t killed_group) {
  constexpr int kStopScans = 2;
  constexpr int kEmptyRounds = 2;
  constexpr std::chrono::milliseconds kLimit{200};  // renewals and signals are delayed meanwhile
  const auto end = Steady::now() + kLimit;
  std::vector<Process> stopped;
  for (int i = 0; i < kStopScans; ++i) {
    for (const Process& p : scan.next().value_or(std::vector<Process>{})) {
      if (!p.alive || is_killed(p)) continue;
      signal_process(p, SIGSTOP);
      stopped.push_back(p);
    }
  }
  for (const Process& p : stopped) kill(p);
  bool found = !stopped.empty();
  std::unordered_set<pid_t> children;
  for (int empty = 0; empty < kEmptyRounds && Steady::now() < end;) {
    bool any = kill_new_children(children, killed_group);
    for (const Process& p : scan.next().value_or(std::vector<Process>{})) {
      if (!p.alive || is_killed(p)) continue;
      kill(p);
      any = found = true;
    }
    empty = any ? 0 : empty + 1;
  }
  return found;
}

// A scan of thousands of processes that have the signal delays their end: it needs the same
// processors, and locks of the kernel. So it is repeated at once only where the last one found
// something new.
void ProcessTree::kill_by_scan() {
  constexpr int kRest = 2;  // times the duration of the last scan
  const auto began = Steady::now();
  if (began < next_scan_) return;
  if (!proc_shows_own_namespace()) return signal_without_proc(SIGKILL);
  // While the command is not reaped, its group has the signal of this round.
  const bool is_thorough = std::exchange(thorough_scan_due_, false) && leader_ == 0;
  const pid_t killed_group = group_killed_ && !is_thorough ? group_ : 0;
  DescendantScan scan(::getpid(), other_children_, killed_group);
  if (kill_found(scan, killed_group)) return;
  const auto ended = Steady::now();
  next_scan_ = ended + kRest * (ended - began);
}

// In a chain of processes that fork and exit, each one becomes a child of this process when its
// parent exits, behind all others in the list. The list is read faster than a process forks.
// Nothing is reaped meanwhile, so the pids stay valid. Returns whether a process was killed that is
// not in `killed`.
bool ProcessTree::kill_new_children(std::unordered_set<pid_t>& killed, pid_t killed_group) const {
  if (!other_children_.empty()) return false;
  bool any = false;
  const std::vector<pid_t> children = own_children();
  for (auto newest = children.rbegin(); newest != children.rend(); ++newest) {
    const pid_t pid = *newest;
    if (!killed.insert(pid).second) continue;
    if (killed_group != 0 && ::getpgid(pid) == killed_group) continue;
    ::kill(pid, SIGKILL);
    any = true;
  }
  return any;
}

void ProcessTree::signal_without_proc(int signo) {
  // Every other process in the PID namespace is a descendant.
  if (is_first_process_) {
    ::kill(-1, signo);
    return;
  }
  signal_group(signo);
  // The leader has ended and the members cannot be found: the group's number is all that is left.
  if (leader_ == 0 && group_ != 0) ::killpg(group_, signo);
}

}  // namespace cronlatch
