// SPDX-License-Identifier: Apache-2.0
// The signals that ask this process to end (INT, TERM, HUP), taken between two steps, so that what
// the steps left behind is removed first.
#pragma once

#include <csignal>

#include "base/time.h"

namespace cronlatch {

// From the constructor on the signals are blocked in the calling thread. One at a time.
class Interrupts {
 public:
  Interrupts();
  // What a child should start with.
  const sigset_t& inherited_mask() const { return inherited_; }
  bool arrived() const { return signo_ != 0; }
  // A command in the foreground of the terminal gets its Ctrl-C alone.
  void set_arrived(int signo) { signo_ = signo; }
  // Returns early when a signal arrives, and at once when one has arrived.
  void pause_for(Millis d);
  // Ends this process by the signal that arrived.
  void end_by_signal() const;

 private:
  sigset_t signals_{}, inherited_{};
  int signo_ = 0;
};

}  // namespace cronlatch
