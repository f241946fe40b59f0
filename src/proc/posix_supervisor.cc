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

// The codes of a shell and of env(1): 127 when something is missing, 126 for every other refusal of
// this file.
Error exec_error(const std::string& path, int why) {
  const std::string what = "command " + path + " cannot be executed: ";
  switch (why) {
    case ENOENT:
    case ENOTDIR:
      return {Code::exec_missing, what + "the file, or the interpreter it names, does not exist",
              "check its first line (#!) and, for a program, that its loader is in this image"};
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

// What one round of waitpid has seen.
struct PosixSupervisor::Seen {
  std::optional<int> exit_code;  // of the command
  int stopped_by = 0;            // the command is stopped
  bool no_children = false;
};

bool can_reach_descendants() { return (::getpid() == 1 && !has_children()) || proc_is_ours(); }

PosixSupervisor::PosixSupervisor(SignalGate& gate, Containment containment)
    : gate_(gate), containment_(containment) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const bool has_strangers = has_children();
  first_process_ = ::getpid() == 1 && !has_strangers;
  if (has_strangers) strangers_ = descendants_of(::getpid(), {}).value_or(std::vector<Process>{});
}

void PosixSupervisor::start(const Command& command, int inherited_fd) {
  const ExecImage image(command);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    facts_.push_back(CannotStart{system_error("pipe2", errno)});
    return;
  }
  Fd reading(ends[0]);
  const Fd writing(ends[1]);
  const Placement placement = terminal_.placement();
  const ChildPlan plan{image,        gate_,         placement, terminal_.fd(),
                       inherited_fd, writing.get(), ::getpid()};
  create_cgroup();
  pid_t pid = cgroup_ ? spawn_in_cgroup(plan, cgroup_->fd()) : -1;
  if (pid < 0) {
    cgroup_.reset();
    pid = spawn(plan);
  }
  if (pid < 0) {
    facts_.push_back(CannotStart{system_error("fork", errno)});
    return;
  }
  // In both processes, so that it is true for whoever comes first; a group leader, however, could
  // not call setsid.
  if (placement != Placement::fresh_session) ::setpgid(pid, pid);
  if (placement == Placement::foreground_group) terminal_.lent_to(pid);
  exec_errno_ = std::move(reading);
  child_ = group_ = pid;
  path_ = command.path;
  started_ = true;
  awaiting_tree_ = false;
  kills_ = 0;
  group_killed_ = false;
}

// As first process of a PID namespace one kill(-1) does the same.
void PosixSupervisor::create_cgroup() {
  if (containment_ != Containment::cgroup || first_process_ || cgroup_tried_) return;
  cgroup_tried_ = true;
  cgroup_ = OwnCgroup::create();
}

void PosixSupervisor::use_wait() {
  if (!started_)
    create_cgroup();
  else if (child_ == 0 && !awaiting_tree_)
    cgroup_.reset();
}

void PosixSupervisor::count_tasks() {
  if (const std::optional<std::size_t> tasks = tasks_of_host())
    facts_.push_back(TasksCounted{*tasks});
}

void PosixSupervisor::watch(PollSet& set) const {
  set.add(gate_.fd(), POLLIN);
  if (exec_errno_) set.add(exec_errno_.get(), POLLIN);
}

std::optional<ProcEvent> PosixSupervisor::next() {
  if (facts_.empty()) collect();
  if (facts_.empty()) return std::nullopt;
  ProcEvent fact = std::move(facts_.front());
  facts_.pop_front();
  return fact;
}

void PosixSupervisor::collect() {
  // Signals are read before children are reaped: a SIGCHLD that comes in between wakes us again.
  std::vector<int> signals;
  while (const std::optional<int> signo = gate_.next()) {
    // What we were told to ignore does not stop us from starting; the command decides for itself,
    // it may have a handler.
    const bool wanted = started_ || !gate_.was_ignored(*signo);
    if (*signo != SIGCHLD && wanted) signals.push_back(*signo);
  }
  settle_start();
  report(reap());
  for (const int signo : signals) facts_.push_back(SignalArrived{signo});
}

void PosixSupervisor::settle_start() {
  if (!exec_errno_) return;
  int why = 0;
  ssize_t n = 0;
  do n = ::read(exec_errno_.get(), &why, sizeof why);
  while (n < 0 && errno == EINTR);
  if (n < 0) return;
  exec_errno_.reset();
  if (n == 0) {
    facts_.push_back(ChildStarted{});
    return;
  }
  facts_.push_back(CannotStart{exec_error(path_, why)});
  // What is left of the child is reaped as a stranger.
  child_ = group_ = 0;
  terminal_.take_back();
}

PosixSupervisor::Seen PosixSupervisor::reap() {
  Seen seen;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) seen.no_children = errno == ECHILD;
    if (pid <= 0) return seen;
    if (child_ == 0 || pid != child_) continue;
    if (WIFSTOPPED(status)) {
      seen.stopped_by = WSTOPSIG(status);
      continue;
    }
    // Its end of the pipe is closed by now, so the start comes before the end, or was none.
    settle_start();
    if (child_ == 0) continue;
    child_ = 0;
    seen.stopped_by = 0;
    seen.exit_code = exit_code_of(status);
  }
}

void PosixSupervisor::report(const Seen& seen) {
  if (seen.exit_code) {
    // Back before anything else: ^C is for us now.
    terminal_.take_back();
    awaiting_tree_ = !(seen.no_children || tree_is_empty());
    facts_.push_back(ChildExited{*seen.exit_code, !awaiting_tree_});
  } else if (awaiting_tree_ && (seen.no_children || tree_is_empty())) {
    awaiting_tree_ = false;
    facts_.push_back(TreeEmpty{});
  }
  if (seen.stopped_by != 0) terminal_.stopped_with(seen.stopped_by, group_);
}

// Only asked while there are children. They are the tree's, unless some of them were here before
// us.
bool PosixSupervisor::tree_is_empty() const {
  if (strangers_.empty()) return false;
  const std::optional<std::vector<Process>> tree = descendants_of(::getpid(), strangers_);
  return tree && tree->empty();
}

}  // namespace cronlatch
