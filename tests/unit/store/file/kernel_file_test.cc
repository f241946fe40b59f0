// SPDX-License-Identifier: Apache-2.0
// A lock on the file of another program: the same file, the same call, and a record of its own.
#include "store/file/kernel_file.h"

#include <sys/stat.h>

#include <filesystem>

#include "core/lock_file.h"
#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

class KernelFile : public ::testing::Test {
 protected:
  Caller program(const std::string& owner, const std::string& path) {
    return Caller(world_, lock_of_file(path), owner);
  }
  Caller program(const std::string& owner) { return program(owner, path_); }

  FileWorld world_;
  TempDir other_;
  std::string path_ = other_ / "other program.lock";
};

// What flock(1) and lockrun do.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& path)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)),
        has_it_(flock(fd_, LOCK_EX | LOCK_NB) == 0) {}
  ~OtherProgram() { close(fd_); }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;
  bool has_it() const { return has_it_; }

 private:
  int fd_;
  bool has_it_;
};

TEST_F(KernelFile, ExcludesTheOtherProgramUntilTheRelease) {
  auto one = program("1");
  const Fence fence = expect<Granted>(one(one.acquire())).fence;

  EXPECT_FALSE(OtherProgram(path_).has_it());
  expect<Released>(one(one.release(fence)));
  EXPECT_TRUE(OtherProgram(path_).has_it());
  EXPECT_TRUE(std::filesystem::exists(path_)) << "the file is never removed";
  EXPECT_EQ(std::filesystem::file_size(path_), 0U) << "and nothing is written to it";
}

TEST_F(KernelFile, IsExcludedByTheOtherProgramAndNamesItsProcess) {
  auto one = program("1");
  {
    const OtherProgram other(path_);
    ASSERT_TRUE(other.has_it());
    const Busy busy = expect<Busy>(one(one.acquire()));

    EXPECT_EQ(busy.reason, BusyReason::held);
    EXPECT_EQ(busy.holder, "pid " + std::to_string(getpid()));
    EXPECT_EQ(one.show().state, LockState::held);
    EXPECT_EQ(one.show().pid, getpid());
  }
  ++one.claim().attempt;
  expect<Granted>(one(one.acquire()));
  EXPECT_EQ(breach_of_law(one.show(), true), "");
}

TEST_F(KernelFile, ABusyReplyDoesNotNameThePreviousHolder) {
  auto one = program("1"), two = program("2");
  expect<Released>(one(one.release(expect<Granted>(one(one.acquire())).fence)));
  const OtherProgram other(path_);
  const Busy busy = expect<Busy>(two(two.acquire()));

  EXPECT_EQ(busy.holder, "pid " + std::to_string(getpid()));
  EXPECT_EQ(busy.fence, 0U);
}

TEST_F(KernelFile, RunsOfTwoStoresExcludeEachOther) {
  FileWorld another_user;
  auto one = program("1");
  Caller two(another_user, lock_of_file(path_), "2");
  expect<Granted>(one(one.acquire()));

  EXPECT_EQ(expect<Busy>(two(two.acquire())).holder, "pid " + std::to_string(getpid()));
}

TEST_F(KernelFile, OtherUsersCanOpenANewFile) {
  const mode_t before = umask(022);
  auto one = program("1");
  expect<Granted>(one(one.acquire()));
  umask(before);

  struct stat st {};
  ASSERT_EQ(stat(path_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0644U);
}

TEST_F(KernelFile, FollowsLinksAndLocksDirectories) {
  const std::string link = other_ / "link";
  ASSERT_EQ(symlink(path_.c_str(), link.c_str()), 0);
  auto by_link = program("1", link), on_directory = program("2", other_.path());
  expect<Granted>(by_link(by_link.acquire()));
  expect<Granted>(on_directory(on_directory.acquire()));

  EXPECT_FALSE(OtherProgram(path_).has_it());
  EXPECT_EQ(by_link.show().state, LockState::held);
  EXPECT_FALSE(is_kernel_lock_free(other_.path()));
}

TEST_F(KernelFile, AMissingDirectoryIsAnErrorThatNamesTheOption) {
  auto one = program("1", other_ / "none/x");
  const Unavailable answer = expect_unavailable(one(one.acquire()));

  EXPECT_EQ(answer.error.code, Code::config);
  EXPECT_NE(answer.error.message.find("none/x"), std::string::npos);
  EXPECT_NE(answer.error.hint.find("lock-file"), std::string::npos);
}

}  // namespace
}  // namespace cronlatch::testing
