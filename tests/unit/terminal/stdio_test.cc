// SPDX-License-Identifier: Apache-2.0
// Writing that tells what it could not write, and writing that never waits; and the installed copy.
#include "terminal/stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/subcommand.h"
#include "unit/cli/fixed_clock.h"

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

  write_now(pipe.write_end, "a line that nobody reads\n");

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

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Install, PutsAnExecutableCopyOfThisProgramAndNothingElse) {
  // given
  std::string dir = testing::TempDir() + "install.XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  const FixedClock clock;

  // when: twice, as when a pod is restarted
  ASSERT_TRUE(install_command({{dir}, {}, clock}).ok());
  const Result<Printed> again = install_command({{dir}, {}, clock});

  // then
  ASSERT_TRUE(again.ok()) << again.error().message;
  struct stat is {};
  ASSERT_EQ(stat((dir + "/cronlatch").c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777, 0555U);
  EXPECT_TRUE(bytes_of(dir + "/cronlatch") == bytes_of("/proc/self/exe"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir), {}), 1);
  std::filesystem::remove_all(dir);
}

TEST(Install, NamesADirectoryThatIsMissing) {
  const FixedClock clock;

  const Result<Printed> installed = install_command({{"/no/such/directory"}, {}, clock});

  ASSERT_FALSE(installed.ok());
  EXPECT_EQ(installed.error().code, Code::config);
  EXPECT_THAT(installed.error().message, testing::HasSubstr("/no/such/directory"));
  EXPECT_THAT(installed.error().hint, testing::HasSubstr("must exist"));
}

}  // namespace
}  // namespace cronlatch
