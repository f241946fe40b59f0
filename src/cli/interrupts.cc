// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupts.h"

#include <ctime>

namespace cronlatch {

Interrupts::Interrupts() {
  sigemptyset(&signals_);
  for (const int signo : {SIGINT, SIGTERM}) sigaddset(&signals_, signo);
  // nohup. The kernel would keep a blocked signal although it is ignored.
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaddset(&signals_, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals_, &inherited_);
  // A shell's background job ignores it.
  std::signal(SIGINT, SIG_DFL);
}

void Interrupts::pause_for(Millis d) {
  if (arrived()) return;
  const timespec limit{static_cast<time_t>(d.count() / 1000),
                       static_cast<long>(d.count() % 1000) * 1'000'000};
  if (const int signo = sigtimedwait(&signals_, nullptr, &limit); signo > 0) signo_ = signo;
}

void Interrupts::end_by_signal() const {
  raise(signo_);
  sigprocmask(SIG_SETMASK, &inherited_, nullptr);
}

}  // namespace cronlatch
