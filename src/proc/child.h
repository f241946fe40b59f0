// SPDX-License-Identifier: Apache-2.0
// What happens between fork and exec. Everything is prepared before the fork; the child makes
// async-signal-safe calls only, allocates nothing and reports a failure as one errno through a pipe
// that a successful exec closes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/supervisor.h"
#include "proc/signal_gate.h"

namespace cronlatch {

enum class Placement {
  fresh_session,     // no terminal: nothing can reach the command but us
  background_group,  // a terminal, but we are not in its foreground
  foreground_group,  // a terminal, and it goes to the command's group
};

// The command as execve wants it. Keeps pointers into `command`, which must stay where it is.
class ExecImage {
 public:
  explicit ExecImage(const Command& command);
  // Returns the errno when it returns. A file the kernel does not recognise is handed to /bin/sh,
  // as execvp does.
  int become() const;

 private:
  const char* path_;
  std::vector<char*> argv_;
  std::vector<char*> shell_argv_;
  std::vector<char*> env_;
};

struct ChildPlan {
  const ExecImage& image;
  const SignalGate& gate;
  Placement placement;
  int terminal;      // descriptor of the terminal, or -1
  int inherited_fd;  // descriptor the command inherits, or -1
  int error_pipe;    // an int is written here when exec fails
  pid_t parent;      // getpid() of the caller of fork
};

[[noreturn]] void become_command(const ChildPlan& plan);

}  // namespace cronlatch
