// SPDX-License-Identifier: Apache-2.0
// Writes that report their failure, and writes that never wait.
#include "terminal/stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace cronlatch {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    if (read_end >= 0) close(read_end);
    close(write_end);
  }
  // Until not one byte more goes in; the pipe blocks again afterwards.
  void fill() const {
    fcntl(write_end, F_SETFL, O_NONBLOCK);
    while (write(write_end, "x", 1) == 1) {
    }
    fcntl(write_end, F_SETFL, 0);
  }
};

TEST(Stdio, AFullDiskIsNoticed) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);

  EXPECT_EQ(write_all(full, "text"), ENOSPC);

  close(full);
}

TEST(Stdio, AClosedPipeIsNoticed) {
  // given
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  close(pipe.read_end);
  pipe.read_end = -1;

  // then
  EXPECT_EQ(write_all(pipe.write_end, "text"), EPIPE);
}

// A wrapper that waits for the reader of its log would not renew its lease.
TEST(Stdio, AFullPipeDoesNotStopALogLine) {
  const Pipe pipe;
  pipe.fill();

  write_now(pipe.write_end, "a line that is not read\n");

  SUCCEED() << "it has returned";
}

TEST(Stdio, ALogLineReachesAPipeAndAFile) {
  // given
  const Pipe pipe;
  std::string path = testing::TempDir() + "stdio.XXXXXX";
  const int file = mkstemp(path.data());
  const std::string line(3'000, 'l');

  // when
  write_now(pipe.write_end, line);
  write_now(file, line);
  write_now(file, line);

  // then
  std::string got(4'000, '\0');
  EXPECT_EQ(read(pipe.read_end, got.data(), got.size()), 3'000);
  EXPECT_EQ(std::filesystem::file_size(path), 6'000U);
  close(file);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cronlatch
