// SPDX-License-Identifier: Apache-2.0
// Starting and reaping.
#include "proc/posix_supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/fd.h"
#include "proc/child.h"
#include "proc/spawn.h"
#include "proc/start_error.h"

namespace cronlatch {

namespace {

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Whether this child has ended, and is reaped, or was stopped.
bool wait_for(pid_t child, int& status) {
  for (;;) {
    const pid_t pid = ::waitpid(child, &status, WNOHANG | WUNTRACED);
    if (pid >= 0 || errno != EINTR) return pid > 0;
  }
}

}  // namespace

bool can_reach_descendants() {
  return (::getpid() == 1 && !has_children()) || proc_shows_own_namespace();
}

PosixSupervisor::PosixSupervisor(SignalReader& signals, Containment containment, Guarding guarding)
    : signals_(signals), containment_(containment) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (guarding == Guarding::where_needed && ::getpid() != 1 && proc_shows_own_namespace())
    kill_timer_.emplace();
}

PosixSupervisor::~PosixSupervisor() {
  if (guardian_) guardian_->end();
}

void PosixSupervisor::start(const Command& command, int inherited_fd) {
  path_ = command.path;
  awaiting_tree_ = false;
  create_cgroup();
  const Placement placement = terminal_.placement();
  if (kill_timer_)
    start_with_guardian(command, placement);
  else
    start_directly(command, inherited_fd, placement);
}

void PosixSupervisor::start_directly(const Command& command, int inherited_fd,
                                     Placement placement) {
  const ExecImage image(command);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    events_.push_back(CannotStart{start_error("pipe2", errno)});
    return;
  }
  Fd reading(ends[0]);
  const Fd writing(ends[1]);
  const ChildPlan plan{image,        signals_.original(), placement, terminal_.fd(),
                       inherited_fd, writing.get(),       ::getpid()};
  pid_t pid = tree_.cgroup() ? spawn_in_cgroup(plan, tree_.cgroup()->fd()) : -1;
  if (pid < 0) {
    tree_.cgroup().reset();
    pid = spawn(plan);
  }
  if (pid < 0) {
    events_.push_back(CannotStart{start_error("fork", errno)});
    return;
  }
  // In parent and child, so that it is done whichever runs first. Not before setsid, which fails
  // for a group leader.
  if (placement != Placement::new_session) ::setpgid(pid, pid);
  if (placement == Placement::foreground_group) terminal_.set_foreground_group(pid);
  exec_errno_ = std::move(reading);
  tree_.begin(pid);
  started_ = true;
}

// In the first process of a PID namespace kill(-1) has the same effect.
void PosixSupervisor::create_cgroup() {
  if (containment_ != Containment::cgroup || tree_.is_below_first_process() || cgroup_tried_)
    return;
  cgroup_tried_ = true;
  tree_.cgroup() = OwnCgroup::create();
}

void PosixSupervisor::prepare() {
  if (!started_) {
    create_cgroup();
    create_guardian();
  } else if (tree_.leader() == 0 && !awaiting_tree_) {
    tree_.cgroup().reset();
  }
}

void PosixSupervisor::count_tasks() {
  if (const std::optional<std::size_t> tasks = tasks_of_host())
    events_.push_back(TasksCounted{*tasks});
}

void PosixSupervisor::watch(PollSet& set) const {
  set.add(signals_.fd(), POLLIN);
  if (exec_errno_) set.add(exec_errno_.get(), POLLIN);
  if (guardian_) set.add(guardian_->fd(), POLLIN);
  if (const auto at = reaper_.next()) set.wake_by(*at);
}

std::optional<ProcEvent> PosixSupervisor::next() {
  if (events_.empty()) collect();
  if (events_.empty()) return std::nullopt;
  ProcEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void PosixSupervisor::collect() {
  // Signals are read before children are reaped: a SIGCHLD that comes in between causes another
  // round.
  std::vector<int> signals;
  while (const std::optional<int> signo = signals_.next()) {
    // A signal that is ignored does not prevent the start; the command gets it, because it may have
    // a handler.
    const bool wanted = started_ || !signals_.was_ignored(*signo);
    if (*signo != SIGCHLD && wanted) signals.push_back(*signo);
  }
  finish_start();
  take_reports();
  report(reap());
  for (const int signo : signals) events_.push_back(SignalArrived{signo});
}

void PosixSupervisor::finish_start() {
  if (!exec_errno_) return;
  int why = 0;
  ssize_t n = 0;
  do n = ::read(exec_errno_.get(), &why, sizeof why);
  while (n < 0 && errno == EINTR);
  if (n < 0) return;
  exec_errno_.reset();
  if (n == 0) {
    events_.push_back(ChildStarted{});
    return;
  }
  cannot_start(exec_error(path_, why));
}

// The rest of the child is reaped like any other child.
void PosixSupervisor::cannot_start(const Error& error) {
  events_.push_back(CannotStart{error});
  tree_.clear();
  terminal_.restore_foreground();
}

PosixSupervisor::Reaped PosixSupervisor::reap() {
  // First: when it has ended, the command is a child of this process.
  if (int status = 0; guardian_ && wait_for(guardian_->pid(), status))
    guardian_changed(!WIFSTOPPED(status));
  Reaped reaped;
  for (int status = 0; tree_.leader() != 0 && wait_for(tree_.leader(), status);) {
    if (WIFSTOPPED(status)) {
      reaped.stopped_by = WSTOPSIG(status);
      continue;
    }
    // The child's end of the pipe is closed by now, so the result of the start is known.
    finish_start();
    if (tree_.leader() == 0) break;
    tree_.leader_reaped();
    reaped.stopped_by = 0;
    reaped.exit_code = exit_code_of(status);
  }
  reaped.no_children = !reaper_.reap({guardian_ ? guardian_->pid() : 0, tree_.leader()});
  return reaped;
}

void PosixSupervisor::report(Reaped reaped) {
  if (guardian_lost_) guardian_lost(reaped);
  if (reaped.exit_code)
    command_exited(*reaped.exit_code, reaped.no_children || tree_.is_empty());
  else if (awaiting_tree_ && !guardian_ && (reaped.no_children || tree_.is_empty())) {
    awaiting_tree_ = false;
    events_.push_back(TreeEmpty{});
  }
  if (reaped.stopped_by != 0) command_stopped(reaped.stopped_by);
}

void PosixSupervisor::command_exited(int code, bool tree_empty) {
  // First: from now on ^C is for this process.
  terminal_.restore_foreground();
  awaiting_tree_ = !tree_empty;
  events_.push_back(ChildExited{code, tree_empty});
}

void PosixSupervisor::command_stopped(int signo) {
  if (terminal_.stopped_with(signo, tree_.group())) signal(SIGCONT, Target::group);
}

void PosixSupervisor::signal(int signo, Target target) {
  if (!started_) return;
  if (signo == SIGCONT && target == Target::group && tree_.leader() != 0)
    terminal_.give_foreground(tree_.group());
  if (guardian_) {
    guardian_->signal(signo, target);
    if (!guardian_->is_held()) return;
    guardian_->kill();
    return kill_tree();
  }
  if (target == Target::group) return tree_.signal_group(signo);
  if (signo != SIGKILL) return tree_.signal_tree(signo);
  kill_tree();
}

// First what the kernel does in one step; /proc is read only where that is not enough.
void PosixSupervisor::kill_tree() {
  if (tree_.kill_in_one_step()) return;
  // Reaps what the earlier rounds have killed.
  if (tree_.is_killed_again()) collect();
  if (tree_.leader() != 0 || awaiting_tree_) tree_.kill_by_scan();
}

}  // namespace cronlatch
