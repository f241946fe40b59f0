// SPDX-License-Identifier: Apache-2.0
// Job control between a shell, this process and the command. All signals are blocked in this
// process, so tcsetpgrp may be called from the background.
#include "proc/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "proc/descendants.h"

namespace cronlatch {
namespace {

bool from_terminal(int signo) { return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU; }

// Is there a shell that would continue this process? That is an ancestor in this session, but not
// in this group, as POSIX defines a group that is not orphaned. The first process of a container
// has none, and SIGSTOP would have no effect.
bool has_job_control() {
  for (pid_t pid = ::getppid(); pid > 0;) {
    if (::getsid(pid) != ::getsid(0)) return false;
    if (::getpgid(pid) != ::getpgrp()) return true;
    const std::optional<Process> member = read_process(pid);
    if (!member) return false;
    pid = member->parent;
  }
  return false;
}

// One signal for the whole job (a script around this process, the pipeline's other members). The
// shell may continue the job as soon as the others have stopped; its SIGCONT then removes a pending
// SIGTSTP. A later stop of this process alone would not be continued.
void stop_own_group() {
  std::signal(SIGTSTP, SIG_DFL);  // the command keeps the inherited one
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  ::killpg(::getpgrp(), SIGTSTP);  // returns after SIGCONT
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace

Terminal::Terminal() : tty_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {}

bool Terminal::has_foreground() const { return tty_ && ::tcgetpgrp(tty_.get()) == ::getpgrp(); }

Placement Terminal::placement() const {
  if (!tty_) return Placement::new_session;
  return has_foreground() ? Placement::foreground_group : Placement::background_group;
}

void Terminal::give_foreground(pid_t group) {
  if (has_foreground() && ::tcsetpgrp(tty_.get(), group) == 0) foreground_group_ = group;
}

void Terminal::restore_foreground() {
  if (foreground_group_ != 0 && ::tcgetpgrp(tty_.get()) == foreground_group_)
    ::tcsetpgrp(tty_.get(), ::getpgrp());
  foreground_group_ = 0;
}

bool Terminal::stopped_with(int signo, pid_t group) {
  if (!tty_) return false;
  // Started in the background, moved to the foreground since (a shell sends no signal to a running
  // job), and now it uses the terminal.
  if (signo != SIGTSTP && from_terminal(signo) && has_foreground()) {
    give_foreground(group);
    return true;
  }
  // In such a group the kernel would have ignored ^Z; a stop by kill -STOP is left alone.
  if (!has_job_control()) return signo == SIGTSTP;
  restore_foreground();
  stop_own_group();
  return false;
}

}  // namespace cronlatch
