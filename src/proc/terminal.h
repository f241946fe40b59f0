// SPDX-License-Identifier: Apache-2.0
// Terminal: the controlling terminal, lent to the command's process group while it runs. Makes ^C,
// ^Z, fg and bg work as if the command had been started by the shell itself. Without a terminal
// every call does nothing.
#pragma once

#include <sys/types.h>

#include "base/fd.h"
#include "proc/child.h"

namespace cronlatch {

class Terminal {
 public:
  Terminal();  // opens /dev/tty, which fails where there is no controlling terminal
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { take_back(); }

  int fd() const { return tty_.get(); }
  Placement placement() const;
  // The child put its group into the foreground (Placement::foreground_group).
  void lent_to(pid_t group) { borrower_ = group; }
  // The command is about to be continued: its group gets the terminal if the shell has given it to
  // us.
  void lend(pid_t group);
  void take_back();
  // The command was stopped by `signo`: stops us and our own group, as the terminal would have done
  // with the command in it. Returns after somebody has continued us.
  void stopped_with(int signo, pid_t group);

 private:
  bool ours() const;

  Fd tty_;
  pid_t borrower_ = 0;
};

}  // namespace cronlatch
