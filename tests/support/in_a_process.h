// SPDX-License-Identifier: Apache-2.0
// For what a test must not change in its own process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace cronlatch::testing {

// What `check` returns in a forked process, as its exit code.
inline int in_a_process(const std::function<int()>& check) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(check());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace cronlatch::testing
