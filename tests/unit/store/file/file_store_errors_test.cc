// SPDX-License-Identifier: Apache-2.0
// A locked or damaged record, a wrong directory, a full disk; the hourly update of file times.
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

// ---- the mutex ----

TEST_F(FileStore, WaitsForTheRecordAtMostUntilTheDeadline) {
  // Given a process that keeps the mutex of the record
  Caller one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  const std::string before = content_of(file(".rec"));
  const int fd = open(file(".mutex").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);

  // When a request has a deadline of 100 ms
  ++one.claim().attempt;
  Acquire request = one.acquire();
  request.give_up = boot_now() + Millis(100);
  const Unavailable error = expect_unavailable(one(request));

  // Then it is unavailable, and nothing has changed
  EXPECT_GE(boot_now(), request.give_up);
  EXPECT_EQ(error.error.code, Code::unreachable);
  EXPECT_TRUE(error.transient);
  EXPECT_TRUE(error.unsent);
  EXPECT_TRUE(is_kernel_lock_free(file(".lock")));
  close(fd);
  expect<Granted>(one(one.acquire()));
}

// ---- errors ----

TEST_F(FileStore, DamagedRecordRefusesEveryRequestAndIsNotChanged) {
  Caller one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  write_file(file(".rec"), "cronlatch-lock 1\nlock a/b\nseat frei\n");

  ++one.claim().attempt;
  for (const Request& request :
       {Request(one.acquire()), Request(one.renew(1)), Request(one.release(1))}) {
    const Unavailable error = expect_unavailable(one(request));
    EXPECT_EQ(error.error.code, Code::config);
    EXPECT_FALSE(error.transient);
    EXPECT_NE(error.error.message.find(file(".rec")), std::string::npos);
  }
  EXPECT_FALSE(one.backend().show("a/b", boot_now()).ok());
  EXPECT_EQ(content_of(file(".rec")), "cronlatch-lock 1\nlock a/b\nseat frei\n");
  const auto listed = one.backend().list(boot_now());
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().state, LockState::damaged);
  EXPECT_TRUE(is_kernel_lock_free(file(".lock")));
}

TEST_F(FileStore, LimitOfFileSizesIsNamed) {
  Caller one = program("1");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  const Unavailable error = expect_unavailable(one(one.acquire()));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(error.error.code, Code::config);
  EXPECT_NE(error.error.hint.find("RLIMIT_FSIZE"), std::string::npos) << error.error.hint;
}

TEST_F(FileStore, DirectoryThatIsWritableForOtherUsersIsAPermanentError) {
  std::filesystem::create_directory(world_.path());
  chmod(world_.path().c_str(), 0777);
  Caller one = program("1");
  const Unavailable error = expect_unavailable(one(one.acquire()));
  EXPECT_EQ(error.error.code, Code::config);
  EXPECT_FALSE(error.transient);
  EXPECT_FALSE(one.backend().show("a/b", boot_now()).ok());
}

TEST_F(FileStore, FullDiskGrantsNoNewLockAndReleasesHeldLocks) {
  // Given a lock that was never taken, on a small file system that is full
  std::filesystem::create_directory(world_.path());
  if (mount("none", world_.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
    GTEST_SKIP() << "NOT TESTED: a full disk needs root and the right to mount";
  Caller one = program("1"), two = program("2");
  write_file(world_.path() + "/filler", std::string(256 * 1024, 'x'));

  // When a run sends an acquire
  const Unavailable error = expect_unavailable(two(two.acquire()));

  // Then nothing is granted, and after space is freed the lock is granted
  EXPECT_EQ(error.error.code, Code::unreachable);
  EXPECT_TRUE(error.transient);
  EXPECT_EQ(two.backend().inherited_fd(), -1);
  EXPECT_TRUE(is_kernel_lock_free(file(".lock")));
  std::filesystem::remove(world_.path() + "/filler");
  const Granted got = expect<Granted>(two(two.acquire()));

  // And an existing record needs no space: a full disk does not stop its release
  write_file(world_.path() + "/filler", std::string(256 * 1024, 'x'));
  expect<Released>(two(two.release(got.fence)));
  EXPECT_TRUE(is_kernel_lock_free(file(".lock")));
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  EXPECT_EQ(breach_of_law(two.show(), false), "");
  umount2(world_.path().c_str(), MNT_DETACH);
}

TEST_F(FileStore, UsesTheNewDirectoryAfterItWasReplaced) {
  Caller one = program("1"), two = program("2");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  std::filesystem::remove_all(world_.path());
  expect<Granted>(two(two.acquire()));
  ++one.claim().attempt;
  expect<Busy>(one(one.acquire()));
}

TEST_F(FileStore, RefusesPathsThatAreNotPlain) {
  for (const char* path : {"", "relative", "/a/../b"})
    EXPECT_EQ(open_file_store(path).error().code, Code::config) << path;
}

// ---- cleaners of temporary files ----

TEST_F(FileStore, TouchesItsFilesEveryHourWhileHeld) {
  // Given a held lock with old files
  Caller one = program("1");
  expect<Granted>(one(one.acquire()));
  PollSet set;
  one.backend().watch(set);
  ASSERT_TRUE(set.deadline);
  EXPECT_GT(*set.deadline, boot_now() + std::chrono::minutes(59));
  EXPECT_LE(*set.deadline, boot_now() + std::chrono::minutes(61));
  const timespec old[2] = {{1'000'000, 0}, {1'000'000, 0}};
  for (const char* suffix : {".lock", ".rec"}) utimensat(AT_FDCWD, file(suffix).c_str(), old, 0);

  // When the hour is over
  EXPECT_EQ(one.backend().step({}, *set.deadline), std::nullopt);

  // Then their times are new, and the next deadline is in an hour
  for (const char* suffix : {".lock", ".rec"}) {
    struct stat st {};
    ASSERT_EQ(stat(file(suffix).c_str(), &st), 0);
    EXPECT_GT(st.st_mtime, 1'000'000) << suffix;
  }
  PollSet next;
  one.backend().watch(next);
  EXPECT_EQ(*next.deadline, *set.deadline + std::chrono::hours(1));
}

TEST_F(FileStore, HasNoDeadlineWithoutAHeldLock) {
  Caller one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  PollSet set;
  one.backend().watch(set);
  EXPECT_FALSE(set.deadline);
  EXPECT_TRUE(set.fds.empty());
}

}  // namespace
}  // namespace cronlatch::testing
