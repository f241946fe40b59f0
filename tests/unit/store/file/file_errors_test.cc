// SPDX-License-Identifier: Apache-2.0
// The class of each errno, and files of a lock that were deleted.
#include "store/file/file_errors.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <filesystem>

#include "unit/store/file/file_error_cases.h"
#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

// ---- files that were deleted ----

TEST(FileErrors, ADeletedRecordIsALockThatWasNeverGranted) {
  FileWorld world;
  Caller one(world, "a/b", "1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  std::filesystem::remove(world.path() + kRecord);
  ++one.claim().attempt;
  EXPECT_EQ(expect<Granted>(one(one.acquire())).stole, false);
  EXPECT_EQ(one.count("acquired"), 1);
}

// The kernel's lock is on the file that was deleted: no program can find it. The record shows it.
TEST(FileErrors, ADeletedLockFileIsGrantedAgainAndCountedAsStolen) {
  FileWorld world;
  Caller one(world, "a/b", "1"), two(world, "a/b", "2");
  const Fence fence = expect<Granted>(one(one.acquire())).fence;
  std::filesystem::remove(world.path() + kLock);
  world.pass(Millis(1));
  const Granted second = expect<Granted>(two(two.acquire()));
  EXPECT_TRUE(second.stole);
  EXPECT_GT(second.fence, fence);
  EXPECT_EQ(expect<NotHolder>(one(one.renew(fence))).reason, LostReason::taken);
  EXPECT_EQ(expect<NotHolder>(one(one.release(fence))).reason, LostReason::taken);
  expect<Released>(two(two.release(second.fence)));
  EXPECT_EQ(breach_of_law(two.show(), false), "");
}

// ---- errno ----

TEST(FileErrors, HaveAClassForEachErrno) {
  struct ErrnoCase {
    int number;
    Code code;
    const char* hint;
  };
  for (const ErrnoCase& each : {ErrnoCase{ENOSPC, Code::unreachable, "free some space"},
                                {EDQUOT, Code::unreachable, "free some space"},
                                {EMFILE, Code::unreachable, "RLIMIT_NOFILE"},
                                {ENFILE, Code::unreachable, "fs.file-max"},
                                {ENOMEM, Code::unreachable, ""},
                                {ENOLCK, Code::unreachable, ""},
                                {EIO, Code::unreachable, ""},
                                {EINTR, Code::unreachable, ""},
                                {EAGAIN, Code::unreachable, ""},
                                {EACCES, Code::config, "a directory that you own"},
                                {EPERM, Code::config, "a directory that you own"},
                                {EROFS, Code::config, "a writable directory"},
                                {EFBIG, Code::config, "RLIMIT_FSIZE"},
                                {ELOOP, Code::config, "check the directory"},
                                {ENOTDIR, Code::config, "check the directory"},
                                {EISDIR, Code::config, "check the directory"},
                                {EOPNOTSUPP, Code::config, "check the directory"},
                                {ENAMETOOLONG, Code::config, "check the directory"}}) {
    const Error error = file::file_error(each.number, "open", "/locks/a");
    EXPECT_EQ(error.code, each.code) << error.message;
    EXPECT_THAT(error.message, HasSubstr("cannot open /locks/a: "));
    EXPECT_THAT(error.hint, HasSubstr(each.hint)) << error.message;
  }
}

}  // namespace
}  // namespace cronlatch::testing
