// SPDX-License-Identifier: Apache-2.0
// In a process of its own.
#include "proc/startup.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace cronlatch {
namespace {

// What `check` returns in a forked process, as its exit code.
int in_a_process(const std::function<int()>& check) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(check());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Hardening, MakesTheProcessUndumpable) {
  // Given
  const auto check = [] {
    // When
    harden_process();
    return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 7 : 1;
  };
  // Then
  EXPECT_EQ(in_a_process(check), 7);
}

}  // namespace
}  // namespace cronlatch
