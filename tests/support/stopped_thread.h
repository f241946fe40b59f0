// SPDX-License-Identifier: Apache-2.0
// StoppedThread: stops one thread of a child process, in a system call that waits, as a blocked
// call would, until the object is destroyed. The other threads continue. A signal stops all of
// them, so it uses ptrace(2).
#pragma once

#include <sys/types.h>

#include <string>

namespace cronlatch::testing {

class StoppedThread {
 public:
  // `name`: /proc/<pid>/task/<tid>/comm.
  StoppedThread(pid_t pid, const std::string& name);
  ~StoppedThread();
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;

  // "" when the thread is stopped, else the reason why it is not.
  const std::string& error() const { return error_; }

 private:
  pid_t thread_ = 0;
  std::string error_;
};

}  // namespace cronlatch::testing
