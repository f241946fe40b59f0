// SPDX-License-Identifier: Apache-2.0
// In processes of their own.
#include "base/standard_fds.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include "support/in_a_process.h"

namespace cronlatch {
namespace {

using testing::in_a_process;

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
