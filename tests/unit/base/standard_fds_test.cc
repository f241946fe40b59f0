// SPDX-License-Identifier: Apache-2.0
// In processes of their own.
#include "base/standard_fds.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
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

TEST(StandardFds, ThatAreClosedAreNeverGivenToAnotherFile) {
  // Given a process without 0, 1 and 2
  const auto first_new_fd = [] {
    for (int fd = 0; fd <= 2; ++fd) ::close(fd);
    // When
    reserve_standard_fds();
    return ::open("/", O_RDONLY);
  };
  // Then
  EXPECT_GT(in_a_process(first_new_fd), 2);
}

TEST(StandardFds, ThatAreReservedCannotBeWrittenAndAreNotInherited) {
  // Given
  const auto check = [] {
    ::close(1);
    // When
    reserve_standard_fds();
    const bool refused = ::write(1, "x", 1) == -1 && errno == EBADF;
    const bool cloexec = (::fcntl(1, F_GETFD) & FD_CLOEXEC) != 0;
    return refused && cloexec ? 7 : 1;
  };
  // Then
  EXPECT_EQ(in_a_process(check), 7);
}

TEST(StandardFds, ThatAreOpenStayAsTheyAre) {
  // Given
  const auto check = [] {
    const int flags = ::fcntl(2, F_GETFL);
    // When
    reserve_standard_fds();
    return ::fcntl(2, F_GETFL) == flags && (::fcntl(2, F_GETFD) & FD_CLOEXEC) == 0 ? 7 : 1;
  };
  // Then
  EXPECT_EQ(in_a_process(check), 7);
}

}  // namespace
}  // namespace cronlatch
