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
#include <cstring>
#include <utility>

#include "base/errno_hint.h"
#include "base/fd.h"
#include "proc/child.h"
#include "proc/noexec.h"
#include "proc/spawn.h"

namespace cronlatch {
namespace {

Error system_error(const char* call, int why) {
  return {Code::system,
          std::string("the command cannot be started: ") + call + ": " + std::strerror(why),
          errno_hint(why, "a limit of processes or memory may be reached")};
}

// The codes of a shell and of env(1): 127 when the file or its interpreter is missing, else 126.
Error exec_error(const std::string& path, int why) {
  const std::string what = "command " + path + " cannot be executed: ";
  switch (why) {
    case ENOENT:
    case ENOTDIR:
      return {Code::exec_missing, what + "the file, or the interpreter it names, does not exist",
              "check its first line (#!) and, for a binary, that its loader is in this image"};
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case EIO:
      return system_error("execve", why);
    case EACCES:
      if (const std::optional<std::string> mount = noexec_mount(path))
        return {Code::exec_denied, what + "it is on " + *mount + ", which is mounted noexec",
                noexec_hint(*mount)};
      [[fallthrough]];
    default:
      return {Code::exec_denied, what + std::strerror(why),
              "check the file's mode, its mount (noexec) and its format"};
  }
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

// The result of one round of waitpid.
struct PosixSupervisor::Reaped {
  std::optional<int> exit_code;  // of the command
  int stopped_by = 0;            // the command is stopped
  bool no_children = false;
};

bool can_reach_descendants() {
  return (::getpid() == 1 && !has_children()) || proc_shows_own_namespace();
}

PosixSupervisor::PosixSupervisor(SignalReader& signals, Containment containment)
    : signals_(signals), containment_(containment) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const bool has_other_children = has_children();
  is_first_process_ = ::getpid() == 1 && !has_other_children;
  if (has_other_children)
    other_children_ = descendants_of(::getpid(), {}).value_or(std::vector<Process>{});
}

void PosixSupervisor::start(const Command& command, int inherited_fd) {
  const ExecImage image(command);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    events_.push_back(CannotStart{system_error("pipe2", errno)});
    return;
  }
  Fd reading(ends[0]);
  const Fd writing(ends[1]);
  const Placement placement = terminal_.placement();
  const ChildPlan plan{image,        signals_,      placement, terminal_.fd(),
                       inherited_fd, writing.get(), ::getpid()};
  create_cgroup();
  pid_t pid = cgroup_ ? spawn_in_cgroup(plan, cgroup_->fd()) : -1;
  if (pid < 0) {
    cgroup_.reset();
    pid = spawn(plan);
  }
  if (pid < 0) {
    events_.push_back(CannotStart{system_error("fork", errno)});
    return;
  }
  // In parent and child, so that it is done whichever runs first. Not before setsid, which fails
  // for a group leader.
  if (placement != Placement::new_session) ::setpgid(pid, pid);
  if (placement == Placement::foreground_group) terminal_.set_foreground_group(pid);
  exec_errno_ = std::move(reading);
  child_ = group_ = pid;
  path_ = command.path;
  started_ = true;
  awaiting_tree_ = false;
  kill_rounds_ = 0;
  group_killed_ = false;
}

// In the first process of a PID namespace kill(-1) has the same effect.
void PosixSupervisor::create_cgroup() {
  if (containment_ != Containment::cgroup || is_first_process_ || cgroup_tried_) return;
  cgroup_tried_ = true;
  cgroup_ = OwnCgroup::create();
}

void PosixSupervisor::prepare() {
  if (!started_)
    create_cgroup();
  else if (child_ == 0 && !awaiting_tree_)
    cgroup_.reset();
}

void PosixSupervisor::count_tasks() {
  if (const std::optional<std::size_t> tasks = tasks_of_host())
    events_.push_back(TasksCounted{*tasks});
}

void PosixSupervisor::watch(PollSet& set) const {
  set.add(signals_.fd(), POLLIN);
  if (exec_errno_) set.add(exec_errno_.get(), POLLIN);
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
  events_.push_back(CannotStart{exec_error(path_, why)});
  // The rest of the child is reaped like any other child.
  child_ = group_ = 0;
  terminal_.restore_foreground();
}

PosixSupervisor::Reaped PosixSupervisor::reap() {
  Reaped reaped;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) reaped.no_children = errno == ECHILD;
    if (pid <= 0) return reaped;
    if (child_ == 0 || pid != child_) continue;
    if (WIFSTOPPED(status)) {
      reaped.stopped_by = WSTOPSIG(status);
      continue;
    }
    // The child's end of the pipe is closed by now, so the result of the start is known.
    finish_start();
    if (child_ == 0) continue;
    child_ = 0;
    reaped.stopped_by = 0;
    reaped.exit_code = exit_code_of(status);
  }
}

void PosixSupervisor::report(const Reaped& reaped) {
  if (reaped.exit_code) {
    // First: from now on ^C is for this process.
    terminal_.restore_foreground();
    awaiting_tree_ = !(reaped.no_children || tree_is_empty());
    events_.push_back(ChildExited{*reaped.exit_code, !awaiting_tree_});
  } else if (awaiting_tree_ && (reaped.no_children || tree_is_empty())) {
    awaiting_tree_ = false;
    events_.push_back(TreeEmpty{});
  }
  if (reaped.stopped_by != 0) terminal_.stopped_with(reaped.stopped_by, group_);
}

// Called only while there are children. They belong to the tree, unless some existed before.
bool PosixSupervisor::tree_is_empty() const {
  if (other_children_.empty()) return false;
  const std::optional<std::vector<Process>> tree = descendants_of(::getpid(), other_children_);
  return tree && tree->empty();
}

}  // namespace cronlatch
