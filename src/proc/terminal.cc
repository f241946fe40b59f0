// SPDX-License-Identifier: Apache-2.0
// Job control between a shell, us and the command. All signals are blocked in this process, so
// tcsetpgrp may be called from the background.
#include "proc/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "proc/descendants.h"

namespace cronlatch {
namespace {

bool from_terminal(int signo) { return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU; }

// Is there a shell that would continue us? Somebody above us, in this session but not in this
// group, as POSIX defines a group that is not orphaned. As first process of a container there is
// nobody, and SIGSTOP would have no effect.
bool somebody_controls_us() {
  for (pid_t pid = ::getppid(); pid > 0;) {
    if (::getsid(pid) != ::getsid(0)) return false;
    if (::getpgid(pid) != ::getpgrp()) return true;
    const std::optional<Process> in_our_group = read_process(pid);
    if (!in_our_group) return false;
    pid = in_our_group->parent;
  }
  return false;
}

// With one signal for all of the job (a script around us, the pipeline's other members). The shell
// may continue the job as soon as the others have stopped; its SIGCONT then takes our signal away
// before it has stopped us, where a stop of our own behind it would be one that nobody ends.
void stop_our_group() {
  std::signal(SIGTSTP, SIG_DFL);  // the command has what was inherited
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  ::killpg(::getpgrp(), SIGTSTP);  // returns when we have been continued
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace

Terminal::Terminal() : tty_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {}

bool Terminal::ours() const { return tty_ && ::tcgetpgrp(tty_.get()) == ::getpgrp(); }

Placement Terminal::placement() const {
  if (!tty_) return Placement::fresh_session;
  return ours() ? Placement::foreground_group : Placement::background_group;
}

void Terminal::lend(pid_t group) {
  if (ours() && ::tcsetpgrp(tty_.get(), group) == 0) borrower_ = group;
}

void Terminal::take_back() {
  if (borrower_ != 0 && ::tcgetpgrp(tty_.get()) == borrower_) ::tcsetpgrp(tty_.get(), ::getpgrp());
  borrower_ = 0;
}

void Terminal::stopped_with(int signo, pid_t group) {
  if (!tty_) return;
  // Started in the background, brought to the front since (a shell sends nothing to a job that
  // runs), and now it wants the terminal.
  if (signo != SIGTSTP && from_terminal(signo) && ours()) {
    lend(group);
    ::killpg(group, SIGCONT);
    return;
  }
  if (!somebody_controls_us()) {
    // In such a group the kernel would have ignored ^Z; a stop by kill -STOP is left alone.
    if (signo == SIGTSTP) ::killpg(group, SIGCONT);
    return;
  }
  take_back();
  stop_our_group();
}

}  // namespace cronlatch
