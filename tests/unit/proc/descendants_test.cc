// SPDX-License-Identifier: Apache-2.0
// The tree below a process, and signals to members of it.
#include "proc/descendants.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "support/program.h"

namespace cronlatch {
namespace {

using testing::Program;
using testing::talking_child;

bool contains(const std::vector<Process>& tree, pid_t pid) {
  return std::any_of(tree.begin(), tree.end(), [pid](const Process& p) { return p.pid == pid; });
}

TEST(Descendants, AreFoundThroughGroupsAndSessions) {
  // Given
  Program child({.argv = {talking_child(), "spawn", "[", "spawn", "[", "say", "deep", "forever",
                          "]", "forever", "]", "forever"}});
  ASSERT_TRUE(child.says("deep"));
  // When
  const auto tree = descendants_of(::getpid(), {});
  // Then
  ASSERT_TRUE(tree);
  EXPECT_TRUE(contains(*tree, child.pid()));
  EXPECT_EQ(tree->size(), 3u);
  for (const Process& p : *tree) signal_process(p, SIGKILL);
}

TEST(Descendants, ExcludeProcessesWithTheirDescendants) {
  // Given
  Program stranger(
      {.argv = {talking_child(), "spawn", "[", "say", "deep", "forever", "]", "forever"}});
  ASSERT_TRUE(stranger.says("deep"));
  const auto theirs = read_process(stranger.pid());
  ASSERT_TRUE(theirs);
  const pid_t below = stranger.pid_after("spawned ");
  // When
  const auto tree = descendants_of(::getpid(), {*theirs});
  // Then
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->empty());
  ::kill(below, SIGKILL);
}

TEST(Descendants, AreReadWithAnyName) {
  // Given
  ASSERT_EQ(::prctl(PR_SET_NAME, "a) R 1 (b", 0, 0, 0), 0);
  // When
  const auto self = read_process(::getpid());
  // Then
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->group, ::getpgrp());
}

TEST(Descendants, WithAReusedPidAreNotSignalled) {
  // Given
  Program child({.argv = {talking_child(), "say", "up", "forever"}});
  ASSERT_TRUE(child.says("up"));
  auto process = read_process(child.pid());
  ASSERT_TRUE(process);
  Process other = *process;
  other.start_time -= 1;
  // When
  signal_process(other, SIGTERM);
  signal_process(*process, SIGINT);
  // Then
  EXPECT_EQ(child.exit_code(), 128 + SIGINT);
}

TEST(Descendants, ThatHaveEndedAreNoError) {
  // Given
  Program child({.argv = {talking_child(), "say", "up", "forever"}});
  ASSERT_TRUE(child.says("up"));
  const auto process = read_process(child.pid());
  child.signal(SIGKILL);
  ASSERT_EQ(child.exit_code(), 137);
  // When
  signal_process(*process, SIGTERM);
  // Then
  EXPECT_FALSE(read_process(process->pid));
}

}  // namespace
}  // namespace cronlatch
