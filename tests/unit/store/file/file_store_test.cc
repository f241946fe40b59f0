// SPDX-License-Identifier: Apache-2.0
// What only the file store promises: a lock that lives with the processes that inherited it,
// takeovers after a death, looking that disturbs nobody, and trouble with the directory, the record
// or the disk told for what it is.
#include "store/file/file_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "contract/contract.h"
#include "unit/store/file/support.h"

namespace cronlatch::testing {
namespace {

class FileWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    return std::move(open_file_store(path(), [this] { return now; })).value();
  }
  void pass(Millis time) override { now = now + time; }
  std::string path() const { return dir / "locks"; }

  TempDir dir;
  ServerTime now{1'800'000'000'000'000};
};

class FileStore : public ::testing::Test {
 protected:
  Program program(const std::string& owner) { return Program(world_, "a/b", owner); }
  std::string file(const std::string& suffix) const { return world_.path() + "/a+b" + suffix; }
  FileWorld world_;
};

template <class T>
T expect(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<T>(*reply)) return std::get<T>(*reply);
  ADD_FAILURE() << "another reply: " << (reply ? static_cast<int>(reply->index()) : -1);
  return {};
}
Unavailable expect_down(const std::optional<Reply>& reply) {
  if (reply && std::holds_alternative<Unavailable>(*reply)) return std::get<Unavailable>(*reply);
  ADD_FAILURE() << "not down: " << (reply ? static_cast<int>(reply->index()) : -1);
  return Unavailable{{Code::bug, ""}};
}
bool kernel_says_free(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  const bool free = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return free;
}

// ---- an older record ----

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(FileStore, TheKernelLocksHolderWritesItsGrantOverAnOlderRecord) {
  auto one = program("1"), two = program("2");
  expect<Released>(one(one.release(expect<Granted>(one(one.acquire())).fence)));
  const std::string older = content_of(file(".rec"));
  world_.pass(Millis(1'000));
  const Fence fence = expect<Granted>(two(two.acquire())).fence;
  std::ofstream(file(".rec")) << older;

  EXPECT_TRUE(expect<Renewed>(two(two.renew(fence))).restored);
  EXPECT_EQ(two.show().identity, two.identity());
  EXPECT_EQ(two.show().fence, fence);
  EXPECT_EQ(breach_of_law(two.show(), true), "");
}

TEST_F(FileStore, AReleaseOverAnOlderRecordFreesTheKernelsLock) {
  auto one = program("1"), two = program("2");
  expect<Released>(one(one.release(expect<Granted>(one(one.acquire())).fence)));
  const std::string older = content_of(file(".rec"));
  world_.pass(Millis(1'000));
  const Fence fence = expect<Granted>(two(two.acquire())).fence;
  std::ofstream(file(".rec")) << older;

  EXPECT_EQ(expect<NotHolder>(two(two.release(fence))).reason, LostReason::gone);
  EXPECT_TRUE(kernel_says_free(file(".lock")));
  EXPECT_EQ(two.count("runs_succeeded"), 2);
  EXPECT_EQ(breach_of_law(two.show(), false), "");
}

// ---- death and inheritance ----

TEST_F(FileStore, TakesOverFromAHolderThatDied) {
  // Given a holder that is killed
  Gate has_it;
  Child holder([&] {
    Program one = program("1");
    if (!std::holds_alternative<Granted>(one(one.acquire()).value())) return 1;
    has_it.open();
    pause();
    return 0;
  });
  has_it.wait();
  Program two = program("2");
  expect<Busy>(two(two.acquire()));
  holder.end(SIGKILL);

  // When the next one asks
  EXPECT_EQ(two.show().state, LockState::expired);
  ++two.claim().attempt;
  const Granted got = expect<Granted>(two(two.acquire()));

  // Then it is granted, and the takeover is counted once
  EXPECT_TRUE(got.stole);
  EXPECT_EQ(two.count("stolen"), 1);
  EXPECT_EQ(breach_of_law(two.show(), true), "");
}

TEST_F(FileStore, StaysHeldAsLongAsAChildThatInheritedIt) {
  // Given a holder that dies and leaves a child with the heirloom
  Gate has_it, may_end;
  Child holder([&] {
    Program one = program("1");
    if (!std::holds_alternative<Granted>(one(one.acquire()).value())) return 1;
    if (fork() == 0) {
      has_it.open();
      may_end.wait();
      _exit(0);
    }
    pause();
    return 0;
  });
  has_it.wait();
  holder.end(SIGKILL);

  // When others ask, then the lock is held, and the living process is named
  Program two = program("2");
  EXPECT_EQ(expect<Busy>(two(two.acquire())).holder, "host-of-1");
  const LockView view = two.show();
  EXPECT_EQ(view.state, LockState::held);
  EXPECT_NE(view.pid, 0);
  EXPECT_EQ(kill(static_cast<pid_t>(view.pid), 0), 0);
  const auto refused = two.backend().revoke("a/b", boot_now());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint.find("kill " + std::to_string(view.pid)), std::string::npos);

  may_end.open();
  const TimePoint deadline = boot_now() + kPatience;
  while (two.show().state == LockState::held && boot_now() < deadline) usleep(1'000);
  EXPECT_EQ(two.show().state, LockState::expired);
}

TEST_F(FileStore, ReleaseFreesTheLockThoughAnInheritorLives) {
  Program one = program("1"), two = program("2");
  const Granted got = expect<Granted>(one(one.acquire()));
  Gate may_end;
  Child inheritor([&] {
    may_end.wait();
    return 0;
  });
  expect<Released>(one(one.release(got.fence)));
  EXPECT_FALSE(expect<Granted>(two(two.acquire())).stole);
  may_end.open();
}

TEST_F(FileStore, HeirloomIsTheLockAndCloseOnExec) {
  Program one = program("1");
  expect<Granted>(one(one.acquire()));
  const int fd = one.backend().inherited_fd();
  struct stat inherited {
  }, named{};
  ASSERT_EQ(fstat(fd, &inherited), 0);
  ASSERT_EQ(stat(file(".lock").c_str(), &named), 0);
  EXPECT_EQ(inherited.st_ino, named.st_ino);
  EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

TEST_F(FileStore, GrantsNothingToACopyOfTheHolder) {
  Program one = program("1"), copy = program("1");
  expect<Granted>(one(one.acquire()));
  expect<Busy>(copy(copy.acquire()));
  EXPECT_EQ(copy.backend().inherited_fd(), -1);
}

TEST_F(FileStore, FenceRisesThoughTheClockGoesBack) {
  Program one = program("1");
  const Fence first = expect<Granted>(one(one.acquire())).fence;
  one(one.release(first));
  world_.now = world_.now - Micros(3'600'000'000);
  ++one.claim().attempt;
  EXPECT_EQ(expect<Granted>(one(one.acquire())).fence, first + 1);
}

TEST_F(FileStore, FenceFollowsTheClockWhenTheRecordWasLost) {
  Program one = program("1");
  const Fence first = expect<Granted>(one(one.acquire())).fence;
  one(one.release(first));
  write_file(file(".rec"), "");  // what a power cut may leave
  world_.pass(Millis(1));
  ++one.claim().attempt;
  EXPECT_GT(expect<Granted>(one(one.acquire())).fence, first);
}

// ---- looking ----

TEST_F(FileStore, LookingTakesNoLockAndMakesNothing) {
  Program one = program("1");
  one.show();
  EXPECT_TRUE(one.backend().list(boot_now())->empty());
  EXPECT_FALSE(std::filesystem::exists(world_.path()));
}

TEST_F(FileStore, LookingDisturbsNoContender) {
  // Given a process that looks all the time
  Program one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  Gate looking;
  Child looker([&] {
    Program two = program("2");
    looking.open();
    for (;;) {
      two.show();
      (void)two.backend().list(boot_now());
    }
    return 0;
  });
  looking.wait();

  // When a contender asks a hundred times for a free lock, then it is never told busy
  for (int i = 0; i < 100; ++i) {
    ++one.claim().attempt;
    const Granted got = expect<Granted>(one(one.acquire()));
    expect<Released>(one(one.release(got.fence)));
    if (HasFailure()) break;
  }
}

TEST_F(FileStore, ShowsAndNamesAForeignHolderOfTheKernelLock) {
  Program one = program("1"), two = program("2");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  const int fd = open(file(".lock").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);

  EXPECT_EQ(two.show().state, LockState::held);
  EXPECT_EQ(two.show().pid, getpid());
  EXPECT_EQ(expect<Busy>(two(two.acquire())).holder, "pid " + std::to_string(getpid()));
  close(fd);
}

// ---- the mutex ----

TEST_F(FileStore, WaitsForTheRecordNoLongerThanAsked) {
  // Given a process that keeps the mutex of the record
  Program one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  const std::string before = content_of(file(".rec"));
  const int fd = open(file(".mutex").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);

  // When somebody asks for a tenth of a second
  ++one.claim().attempt;
  Acquire question = one.acquire();
  question.give_up = boot_now() + Millis(100);
  const Unavailable told = expect_down(one(question));

  // Then it is told to try again, and nothing has changed
  EXPECT_GE(boot_now(), question.give_up);
  EXPECT_EQ(told.error.code, Code::unreachable);
  EXPECT_TRUE(told.transient);
  EXPECT_TRUE(told.unsent);
  EXPECT_TRUE(kernel_says_free(file(".lock")));
  close(fd);
  expect<Granted>(one(one.acquire()));
}

// ---- trouble ----

TEST_F(FileStore, DamagedRecordStopsEverythingAndIsLeftAsItIs) {
  Program one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  write_file(file(".rec"), "cronlatch-lock 1\nlock a/b\nseat frei\n");

  ++one.claim().attempt;
  for (const Request& request :
       {Request(one.acquire()), Request(one.renew(1)), Request(one.release(1))}) {
    const Unavailable told = expect_down(one(request));
    EXPECT_EQ(told.error.code, Code::config);
    EXPECT_FALSE(told.transient);
    EXPECT_NE(told.error.message.find(file(".rec")), std::string::npos);
  }
  EXPECT_FALSE(one.backend().show("a/b", boot_now()).ok());
  EXPECT_EQ(content_of(file(".rec")), "cronlatch-lock 1\nlock a/b\nseat frei\n");
  const auto listed = one.backend().list(boot_now());
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().state, LockState::damaged);
  EXPECT_TRUE(kernel_says_free(file(".lock")));
}

TEST_F(FileStore, DirectoryThatOthersMayWriteIsPermanentTrouble) {
  std::filesystem::create_directory(world_.path());
  chmod(world_.path().c_str(), 0777);
  Program one = program("1");
  const Unavailable told = expect_down(one(one.acquire()));
  EXPECT_EQ(told.error.code, Code::config);
  EXPECT_FALSE(told.transient);
  EXPECT_FALSE(one.backend().show("a/b", boot_now()).ok());
}

TEST_F(FileStore, FullDiskGrantsNoNewLockAndLetsTheOthersGoOn) {
  // Given a lock that was never taken, on a small file system that is full
  std::filesystem::create_directory(world_.path());
  if (mount("none", world_.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
    GTEST_SKIP() << "NOT TESTED: a full disk needs root and the right to mount";
  Program one = program("1"), two = program("2");
  write_file(world_.path() + "/filler", std::string(256 * 1024, 'x'));

  // When a run asks for it
  const Unavailable told = expect_down(two(two.acquire()));

  // Then nothing is granted, and the lock can be had once there is room
  EXPECT_EQ(told.error.code, Code::unreachable);
  EXPECT_TRUE(told.transient);
  EXPECT_EQ(two.backend().inherited_fd(), -1);
  EXPECT_TRUE(kernel_says_free(file(".lock")));
  std::filesystem::remove(world_.path() + "/filler");
  const Granted got = expect<Granted>(two(two.acquire()));

  // And a record that is there needs no room: a disk that fills up meanwhile changes nothing
  write_file(world_.path() + "/filler", std::string(256 * 1024, 'x'));
  expect<Released>(two(two.release(got.fence)));
  EXPECT_TRUE(kernel_says_free(file(".lock")));
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  EXPECT_EQ(breach_of_law(two.show(), false), "");
  umount2(world_.path().c_str(), MNT_DETACH);
}

TEST_F(FileStore, MeetsTheOthersAfterTheDirectoryWasRemade) {
  Program one = program("1"), two = program("2");
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
  // Given a held lock whose files look old
  Program one = program("1");
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

  // Then they look new, and the next hour is watched for
  for (const char* suffix : {".lock", ".rec"}) {
    struct stat st {};
    ASSERT_EQ(stat(file(suffix).c_str(), &st), 0);
    EXPECT_GT(st.st_mtime, 1'000'000) << suffix;
  }
  PollSet next;
  one.backend().watch(next);
  EXPECT_EQ(*next.deadline, *set.deadline + std::chrono::hours(1));
}

TEST_F(FileStore, WatchesNothingWhenItHoldsNothing) {
  Program one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  PollSet set;
  one.backend().watch(set);
  EXPECT_FALSE(set.deadline);
  EXPECT_TRUE(set.fds.empty());
}

// ---- many at once ----

// Each process marks its time inside by a file that must not exist yet: what the store promises is
// checked without it. Goes on until `end`, and then until it was let in twice.
int contend(FileWorld& world, int number, TimePoint end) {
  const TimePoint hangs = end + kPatience;
  Program one(world, "a/b", "owner-" + std::to_string(number));
  const std::string marker = world.dir / "inside";
  int grants = 0;
  for (; boot_now() < end || (grants < 2 && boot_now() < hangs); ++one.claim().attempt) {
    Acquire question = one.acquire();
    question.if_busy = number % 2 == 0 ? IfBusy::wait : IfBusy::skip;
    const std::optional<Reply> reply = one(question);
    if (!reply) return 101;
    if (std::holds_alternative<Busy>(*reply)) continue;
    const auto* got = std::get_if<Granted>(&*reply);
    if (got == nullptr) return 102;
    const int fd = open(marker.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return 103;  // two inside
    close(fd);
    unlink(marker.c_str());
    if (!std::holds_alternative<Released>(one(one.release(got->fence)).value())) return 104;
    ++grants;
  }
  return grants > 0 ? 0 : 1;
}

TEST_F(FileStore, NeverLetsTwoInWhenTwentyContend) {
  const TimePoint end = boot_now() + Millis(1'000);
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 20; ++i)
    children.push_back(std::make_unique<Child>([&, i] { return contend(world_, i, end); }));
  int lucky = 0;
  for (auto& child : children) {
    const int code = child->join();
    EXPECT_LT(code, 100);
    lucky += code == 0;
  }
  EXPECT_GE(lucky, 2) << "nobody contended";

  // Then the ledger has counted every grant and lost none
  Program one = program("x");
  EXPECT_EQ(breach_of_law(one.show(), false), "");
  EXPECT_GT(one.count("acquired"), 20);
  EXPECT_EQ(one.count("stolen"), 0);
  RecordProperty("grants", static_cast<int>(one.count("acquired")));
  RecordProperty("skips", static_cast<int>(one.count("skipped_held")));
}

}  // namespace
}  // namespace cronlatch::testing
