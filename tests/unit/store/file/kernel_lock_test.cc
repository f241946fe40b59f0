// SPDX-License-Identifier: Apache-2.0
// The kernel lock: exclusive, inherited, released at the end of a process, safe when its file is
// replaced. And its holder, read without taking it.
#include "store/file/kernel_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>

#include "base/fd.h"
#include "store/file/directory.h"
#include "store/file/holders.h"
#include "unit/store/file/support.h"

namespace cronlatch::file {
namespace {

using testing::Child;
using testing::Gate;
using testing::TempDir;

class FileKernelLock : public ::testing::Test {
 protected:
  std::optional<KernelLock> take() {
    auto taken = KernelLock::try_take(dir_.get(), "a.lock", temp_ / "a.lock");
    EXPECT_TRUE(taken.ok());
    return taken ? std::move(*taken) : std::nullopt;
  }
  Holder holder() { return HolderTable().find(dir_.get(), "a.lock", own_pid_namespace()); }

  TempDir temp_;
  Fd dir_{open(temp_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST(OwnPidNamespace, EqualsTheNamespaceInProc) {
  struct stat st {};
  ASSERT_EQ(stat("/proc/self/ns/pid", &st), 0);
  EXPECT_EQ(own_pid_namespace(), st.st_ino);
}

TEST_F(FileKernelLock, IsGrantedOnce) {
  auto first = take();
  ASSERT_TRUE(first);
  EXPECT_FALSE(take());
  first->unlock();
  EXPECT_TRUE(take());
}

TEST_F(FileKernelLock, KeepsItsFileAfterTheRelease) {
  {
    auto lock = take();
    lock->unlock();
  }
  EXPECT_TRUE(std::filesystem::exists(temp_ / "a.lock"));
}

TEST_F(FileKernelLock, IsCloseOnExecAndAboveTheStandardStreams) {
  Child process([&] {
    close(0);
    auto lock = take();
    if (!lock || lock->fd() < 3) return 1;
    return (fcntl(lock->fd(), F_GETFD) & FD_CLOEXEC) != 0 ? 0 : 2;
  });
  EXPECT_EQ(process.join(), 0);
}

TEST_F(FileKernelLock, IsHeldWhileAProcessThatInheritedItRuns) {
  // Given a holder that ends at once, and its child that continues
  Gate child_lives, child_may_end;
  Child taker([&] {
    const auto lock = take();
    if (fork() == 0) {
      child_lives.open();
      child_may_end.wait();
      _exit(0);
    }
    return 0;
  });
  child_lives.wait();
  taker.join();

  // Then it is held for other runs until the child ends
  EXPECT_FALSE(take());
  const Holder seen = holder();
  EXPECT_EQ(seen.lock_state, KernelLockState::held);
  EXPECT_GT(seen.pid, 0);
  EXPECT_NE(seen.pid, getpid());
  child_may_end.open();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  bool freed = false;
  while (!freed && std::chrono::steady_clock::now() < deadline) freed = take().has_value();
  EXPECT_TRUE(freed);
}

TEST_F(FileKernelLock, IsFreedForInheritingProcessesByAnExplicitUnlock) {
  auto lock = take();
  Gate done;
  Child inheritor([&] {
    done.wait();
    return 0;
  });
  lock->unlock();
  EXPECT_TRUE(take());
  done.open();
}

TEST_F(FileKernelLock, OfAReplacedFileIsNotAccepted) {
  // Given a lock on a file that is removed, and a new file of that name
  auto orphan = take();
  ASSERT_EQ(unlink((temp_ / "a.lock").c_str()), 0);
  auto current = take();
  ASSERT_TRUE(current);

  // Then a third attempt is decided by the file that now has the name
  orphan->unlock();
  EXPECT_FALSE(take());
}

TEST_F(FileKernelLock, IsAlwaysOnTheNamedFileWhenHoldersRemoveIt) {
  // Given processes that take the lock and remove its file before they release it, in a loop
  const std::string path = temp_ / "a.lock";
  // (The error that the file is replaced repeatedly is correct here.)
  const auto take_if_it_stays = [&]() -> std::optional<KernelLock> {
    auto taken = KernelLock::try_take(dir_.get(), "a.lock", path);
    if (taken) return std::move(*taken);
    EXPECT_EQ(taken.error().code, Code::unreachable) << taken.error().message;
    return std::nullopt;
  };
  const auto remove_again_and_again = [&] {
    for (;;) {
      auto lock = take_if_it_stays();
      if (!lock) continue;
      unlink(path.c_str());
      lock->unlock();
    }
    return 0;
  };
  const Child one(remove_again_and_again), two(remove_again_and_again),
      three(remove_again_and_again);

  // When another process takes it repeatedly for half a second, then always on the file with the
  // name
  const auto start = std::chrono::steady_clock::now();
  int takes = 0;
  const auto goes_on = [&] {
    const auto passed = std::chrono::steady_clock::now() - start;
    return passed < std::chrono::milliseconds(500) ||
           (takes < 10 && passed < std::chrono::seconds(20));
  };
  while (!HasFailure() && goes_on()) {
    auto lock = take_if_it_stays();
    if (!lock) continue;
    ++takes;
    struct stat opened {
    }, named{};
    EXPECT_EQ(fstat(lock->fd(), &opened), 0);
    EXPECT_EQ(stat(path.c_str(), &named), 0);
    EXPECT_EQ(opened.st_ino, named.st_ino);
    lock->unlock();
  }
  EXPECT_GT(takes, 0);
}

TEST_F(FileKernelLock, IsFoundInProcWithoutTakingIt) {
  EXPECT_EQ(holder().lock_state, KernelLockState::free);
  auto lock = take();
  EXPECT_EQ(holder().lock_state, KernelLockState::held);
  EXPECT_EQ(holder().pid, getpid());
  lock->unlock();
  EXPECT_EQ(holder().lock_state, KernelLockState::free);
}

TEST_F(FileKernelLock, IsUnknownWithoutProc) {
  const auto lock = take();
  EXPECT_EQ(HolderTable(temp_ / "no-proc").find(dir_.get(), "a.lock", 1).lock_state,
            KernelLockState::unknown);
}

TEST_F(FileKernelLock, OfAnotherPidNamespaceIsUnknownWhenNotVisible) {
  take()->unlock();
  const Holder seen = HolderTable().find(dir_.get(), "a.lock", own_pid_namespace() + 1);
  EXPECT_EQ(seen.lock_state, KernelLockState::unknown);
}

TEST(FileHolders, ReadTheKernelsTable) {
  const auto locks = parse_locks(
      "1: FLOCK  ADVISORY  WRITE 6404 fe:00:9978182 0 EOF\n"
      "1: -> FLOCK  ADVISORY  WRITE 6405 fe:00:9978182 0 EOF\n"
      "2: POSIX  ADVISORY  WRITE 7 00:18:1 0 EOF\n"
      "nonsense\n"
      "3: FLOCK  ADVISORY  READ  8 103:0a:18446744073709551615 0 EOF");
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_EQ(locks[0], (Flock{0xfe, 0, 9978182, 6404}));
  EXPECT_EQ(locks[1], (Flock{0x103, 0x0a, 18446744073709551615u, 8}));
}

}  // namespace
}  // namespace cronlatch::file
