// SPDX-License-Identifier: Apache-2.0
// Between fork and exec. Everything is prepared before the fork; the child makes only
// async-signal-safe calls, allocates nothing and writes the errno of a failure to a pipe that a
// successful exec closes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/supervisor.h"
#include "proc/signal_reader.h"

namespace cronlatch {

enum class Placement {
  new_session,       // no terminal: only this process signals the command
  background_group,  // a terminal, and this process is not in its foreground
  foreground_group,  // a terminal, and the command's group becomes its foreground group
};

// The arguments of execve. Keeps pointers into `command`, which must not move.
class ExecImage {
 public:
  explicit ExecImage(const Command& command);
  // Returns the errno when it returns. A file that the kernel does not recognize is passed to
  // /bin/sh, as execvp does.
  int exec() const;

 private:
  const char* path_;
  std::vector<char*> argv_;
  std::vector<char*> shell_argv_;
  std::vector<char*> env_;
};

struct ChildPlan {
  const ExecImage& image;
  const OriginalSignals& signals;
  Placement placement;
  int terminal;      // descriptor of the terminal, or -1
  int inherited_fd;  // descriptor the command inherits, or -1
  int error_pipe;    // an int is written here when exec fails
  pid_t parent;      // getpid() of the caller of fork
};

[[noreturn]] void exec_command(const ChildPlan& plan);

}  // namespace cronlatch
