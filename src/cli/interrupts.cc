// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupts.h"

#include <ctime>

namespace cronlatch {

Interrupts::Interrupts() {
  sigemptyset(&signals_);
  for (const int signo : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signo);
  sigprocmask(SIG_BLOCK, &signals_, &inherited_);
  // A shell's background job ignores it. HUP stays ignored (nohup).
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
