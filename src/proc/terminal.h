// SPDX-License-Identifier: Apache-2.0
// Terminal: the controlling terminal, whose foreground group is the command's while it runs, so
// that ^C, ^Z, fg and bg work as if the shell had started the command. Without a terminal every
// call does nothing.
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
  ~Terminal() { restore_foreground(); }

  int fd() const { return tty_.get(); }
  Placement placement() const;
  // The child put its group into the foreground (Placement::foreground_group).
  void set_foreground_group(pid_t group) { foreground_group_ = group; }
  // Before the command is continued: its group becomes the foreground group, if this process's
  // group is.
  void give_foreground(pid_t group);
  void restore_foreground();
  // The command was stopped by `signo`: stops this process and its group, as the terminal would
  // have done with the command in it. Returns after SIGCONT. True: the caller continues the
  // command's group.
  bool stopped_with(int signo, pid_t group);

 private:
  bool has_foreground() const;

  Fd tty_;
  pid_t foreground_group_ = 0;
};

}  // namespace cronlatch
