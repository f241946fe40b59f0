// SPDX-License-Identifier: Apache-2.0
// What only the file store has: inherited locks, takeovers after a death, reading without a lock.
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "unit/store/file/file_store_fixture.h"

namespace cronlatch::testing {
namespace {

// ---- an older record ----

TEST_F(FileStore, TheHolderOfTheKernelLockReplacesAnOlderRecord) {
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

TEST_F(FileStore, AReleaseOverAnOlderRecordFreesTheKernelLock) {
  auto one = program("1"), two = program("2");
  expect<Released>(one(one.release(expect<Granted>(one(one.acquire())).fence)));
  const std::string older = content_of(file(".rec"));
  world_.pass(Millis(1'000));
  const Fence fence = expect<Granted>(two(two.acquire())).fence;
  std::ofstream(file(".rec")) << older;

  EXPECT_EQ(expect<NotHolder>(two(two.release(fence))).reason, LostReason::gone);
  EXPECT_TRUE(is_kernel_lock_free(file(".lock")));
  EXPECT_EQ(two.count("runs_succeeded"), 2);
  EXPECT_EQ(breach_of_law(two.show(), false), "");
}

// The record that a renewal writes again names the process, too.
TEST_F(FileStore, IsFreeAfterTheDeathOfAHolderWhoseRecordWasLostOnce) {
  Gate has_it;
  Child holder([&] {
    Caller one = program("1");
    const std::optional<Reply> granted = one(one.acquire());
    unlink(file(".rec").c_str());
    const auto renewed = one(one.renew(std::get<Granted>(granted.value()).fence));
    if (!renewed || !std::holds_alternative<Renewed>(*renewed)) return 1;
    has_it.open();
    pause();
    return 0;
  });
  has_it.wait();
  Caller two = program("2");
  EXPECT_EQ(two.show().pid, holder.pid());
  holder.end(SIGKILL);

  EXPECT_EQ(two.show().state, LockState::expired);
  EXPECT_TRUE(two.backend().revoke("a/b", boot_now()).ok());
  EXPECT_TRUE(expect<Granted>(two(two.acquire())).stole);
}

// ---- death and inheritance ----

TEST_F(FileStore, IsTakenOverAfterTheHolderDied) {
  // Given a holder that is killed
  Gate has_it;
  Child holder([&] {
    Caller one = program("1");
    if (!std::holds_alternative<Granted>(one(one.acquire()).value())) return 1;
    has_it.open();
    pause();
    return 0;
  });
  has_it.wait();
  Caller two = program("2");
  expect<Busy>(two(two.acquire()));
  holder.end(SIGKILL);

  // When another run sends an acquire
  EXPECT_EQ(two.show().state, LockState::expired);
  ++two.claim().attempt;
  const Granted got = expect<Granted>(two(two.acquire()));

  // Then it is granted, and the takeover is counted once
  EXPECT_TRUE(got.stole);
  EXPECT_EQ(two.count("stolen"), 1);
  EXPECT_EQ(breach_of_law(two.show(), true), "");
}

TEST_F(FileStore, StaysHeldWhileAChildThatInheritedItRuns) {
  // Given a holder that dies and leaves a child with the inherited lock
  Gate has_it, may_end;
  Child holder([&] {
    Caller one = program("1");
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

  // Then the lock is held for other runs, and the process that holds it is named
  Caller two = program("2");
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

TEST_F(FileStore, ReleaseFreesTheLockWhileAProcessThatInheritedItRuns) {
  Caller one = program("1"), two = program("2");
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

TEST_F(FileStore, InheritedDescriptorIsTheLockAndCloseOnExec) {
  Caller one = program("1");
  expect<Granted>(one(one.acquire()));
  const int fd = one.backend().inherited_fd();
  struct stat inherited {
  }, named{};
  ASSERT_EQ(fstat(fd, &inherited), 0);
  ASSERT_EQ(stat(file(".lock").c_str(), &named), 0);
  EXPECT_EQ(inherited.st_ino, named.st_ino);
  EXPECT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

TEST_F(FileStore, GrantsNothingToAForkedCopyOfTheHolder) {
  Caller one = program("1"), copy = program("1");
  expect<Granted>(one(one.acquire()));
  expect<Busy>(copy(copy.acquire()));
  EXPECT_EQ(copy.backend().inherited_fd(), -1);
}

TEST_F(FileStore, FenceRisesAfterTheClockWentBack) {
  Caller one = program("1");
  const Fence first = expect<Granted>(one(one.acquire())).fence;
  one(one.release(first));
  world_.now = world_.now - Micros(3'600'000'000);
  ++one.claim().attempt;
  EXPECT_EQ(expect<Granted>(one(one.acquire())).fence, first + 1);
}

TEST_F(FileStore, FenceFollowsTheClockWhenTheRecordWasLost) {
  Caller one = program("1");
  const Fence first = expect<Granted>(one(one.acquire())).fence;
  one(one.release(first));
  write_file(file(".rec"), "");  // as after a power failure
  world_.pass(Millis(1));
  ++one.claim().attempt;
  EXPECT_GT(expect<Granted>(one(one.acquire())).fence, first);
}

// ---- reading ----

TEST_F(FileStore, ReadingTakesNoLockAndCreatesNothing) {
  Caller one = program("1");
  one.show();
  EXPECT_TRUE(one.backend().list(boot_now())->empty());
  EXPECT_FALSE(std::filesystem::exists(world_.path()));
}

TEST_F(FileStore, ReadingDoesNotMakeAnotherRunBusy) {
  // Given a process that reads in a loop
  Caller one = program("1");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  Gate reading;
  Child reader([&] {
    Caller two = program("2");
    reading.open();
    for (;;) {
      two.show();
      (void)two.backend().list(boot_now());
    }
    return 0;
  });
  reading.wait();

  // Then a hundred acquires of a free lock are never answered busy
  for (int i = 0; i < 100; ++i) {
    ++one.claim().attempt;
    const Granted got = expect<Granted>(one(one.acquire()));
    expect<Released>(one(one.release(got.fence)));
    if (HasFailure()) break;
  }
}

TEST_F(FileStore, ShowsAndNamesAForeignHolderOfTheKernelLock) {
  Caller one = program("1"), two = program("2");
  one(one.release(expect<Granted>(one(one.acquire())).fence));
  const int fd = open(file(".lock").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);

  EXPECT_EQ(two.show().state, LockState::held);
  EXPECT_EQ(two.show().pid, getpid());
  EXPECT_EQ(two.show().fence, 0u) << "no grant of cronlatch";
  EXPECT_EQ(two.show().acquired, ServerTime{});
  EXPECT_EQ(expect<Busy>(two(two.acquire())).holder, "pid " + std::to_string(getpid()));
  close(fd);
}

// The answer stays busy. The caller has the kernel lock while it decides, and must not name itself.
TEST_F(FileStore, ARepeatedBusyReplyOfAFreeLockNamesNoProcess) {
  Caller one = program("1"), two = program("2");
  const Fence fence = expect<Granted>(one(one.acquire())).fence;
  expect<Busy>(two(two.acquire()));
  one(one.release(fence));
  EXPECT_EQ(expect<Busy>(two(two.acquire())).holder, "");
}

}  // namespace
}  // namespace cronlatch::testing
