// SPDX-License-Identifier: Apache-2.0
#include "proc/child_reaper.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "base/kernel_clock.h"
#include "support/eventually.h"

namespace cronlatch {
namespace {

using testing::eventually;

pid_t child_that_exits(int code) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(code);
  return pid;
}

pid_t child_that_waits() {
  const pid_t pid = ::fork();
  while (pid == 0) ::pause();
  return pid;
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

TEST(ChildReaper, ReapsAllThatHaveEndedButThoseThatAreKept) {
  const pid_t kept = child_that_exits(7);
  std::vector<pid_t> others;
  for (int i = 0; i < 20; ++i) others.push_back(child_that_exits(0));
  for (const pid_t pid : others) ASSERT_TRUE(eventually([&] { return has_ended(pid); }));
  ASSERT_TRUE(eventually([&] { return has_ended(kept); }));
  ChildReaper reaper;

  EXPECT_TRUE(reaper.reap({0, kept}));

  int status = 0;
  EXPECT_EQ(::waitpid(kept, &status, WNOHANG), kept);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_FALSE(reaper.reap({0, 0}));
}

// The kept child is the first in the list of the kernel: those behind it are reaped when the caller
// has reaped it.
TEST(ChildReaper, ReapsTheOthersAfterTheKeptOne) {
  const pid_t kept = child_that_exits(0);
  ASSERT_TRUE(eventually([&] { return has_ended(kept); }));
  const pid_t other = child_that_exits(0);
  ASSERT_TRUE(eventually([&] { return has_ended(other); }));
  ChildReaper reaper;
  EXPECT_TRUE(reaper.reap({kept}));
  EXPECT_EQ(::waitpid(kept, nullptr, WNOHANG), kept);
  EXPECT_FALSE(reaper.reap({}));
}

TEST(ChildReaper, ReportsAChildThatLives) {
  const pid_t child = child_that_waits();
  ChildReaper reaper;
  EXPECT_TRUE(reaper.reap({}));
  EXPECT_FALSE(reaper.next());
  ::kill(child, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !reaper.reap({}); }));
}

// A pass over so many may take long: the caller comes back when the next one is due.
TEST(ChildReaper, ReapsACrowdInPasses) {
  constexpr int kCrowd = 3'000;
  std::vector<pid_t> crowd;
  for (int i = 0; i < kCrowd; ++i) crowd.push_back(child_that_waits());
  for (const pid_t pid : crowd) ::kill(pid, SIGKILL);
  ChildReaper reaper;
  EXPECT_TRUE(eventually([&] {
    const bool some_left = reaper.reap({});
    EXPECT_LT(reaper.next().value_or(boot_now()) - boot_now(), Seconds(5));
    return !some_left;
  }));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace cronlatch
