// SPDX-License-Identifier: Apache-2.0
// KeepsSignals: gives a test program back the signal mask, the dispositions and the reaper's role
// it had before a test.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <csignal>

namespace cronlatch::testing {

class KeepsSignals {
 public:
  KeepsSignals() { ::sigprocmask(SIG_SETMASK, nullptr, &mask_); }
  KeepsSignals(const KeepsSignals&) = delete;
  KeepsSignals& operator=(const KeepsSignals&) = delete;
  ~KeepsSignals() {
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    sigset_t all;
    sigfillset(&all);
    const timespec now{0, 0};
    while (::sigtimedwait(&all, nullptr, &now) > 0) {
    }
    std::signal(SIGCHLD, SIG_DFL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t mask_{};
};

}  // namespace cronlatch::testing
