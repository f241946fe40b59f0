// SPDX-License-Identifier: Apache-2.0
// A signal to the tree reaches a process before its children: a script that waits for its child
// does not start its next step because the signal has ended the child.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "proc/posix_supervisor.h"
#include "signals.h"
#include "support/program.h"

namespace cronlatch {
namespace {

using testing::eventually;
using testing::exists;
using testing::ScratchDir;
using testing::talking_child;
using Words = std::vector<std::string>;

class TreeSignal : public ::testing::Test {
 protected:
  ~TreeSignal() override { supervisor.signal(SIGKILL, Target::tree); }

  // A script whose child has a higher pid than a crowd, and the script a lower one. `start` is the
  // word that starts the script: in the command's process group, or in a session of its own.
  Words script_around_a_crowd(const std::string& start) const {
    return {talking_child(),
            start,
            "[",
            "await",
            dir.path("crowd"),
            "spawn",
            "[",
            "forever",
            "]",
            "touch",
            dir.path("up"),
            "join",
            "touch",
            dir.path("next-step"),
            "]",
            "crowd",
            "60",
            "touch",
            dir.path("crowd")};
  }
  bool ends() {
    return eventually([&] {
      while (const auto fact = supervisor.next()) {
        if (std::holds_alternative<TreeEmpty>(*fact)) return true;
        const auto* exited = std::get_if<ChildExited>(&*fact);
        if (exited != nullptr && exited->tree_empty) return true;
      }
      return false;
    });
  }
  void start(Words words, const Words& last) {
    words.insert(words.end(), last.begin(), last.end());
    supervisor.start({talking_child(), words, {"PATH=/usr/bin:/bin"}}, -1);
    ASSERT_TRUE(eventually([&] { return exists(dir.path("up")); }));
  }

  testing::KeepsSignals keeps;
  ScratchDir dir;
  SignalReader gate = *SignalReader::open();
  PosixSupervisor supervisor{gate};
};

TEST_F(TreeSignal, EndsAScriptOfTheGroupBeforeItsNextStep) {
  start(script_around_a_crowd("spawn"), {"forever"});
  // When
  supervisor.signal(SIGTERM, Target::tree);
  // Then
  ASSERT_TRUE(ends());
  EXPECT_FALSE(exists(dir.path("next-step")));
}

TEST_F(TreeSignal, EndsAScriptInASessionOfItsOwnBeforeItsNextStep) {
  start(script_around_a_crowd("daemon"), {"forever"});
  // When
  supervisor.signal(SIGTERM, Target::tree);
  // Then
  ASSERT_TRUE(ends());
  EXPECT_FALSE(exists(dir.path("next-step")));
}

// leftovers=end: the number of the group is not used any more.
TEST_F(TreeSignal, EndsAScriptThatTheCommandLeftBeforeItsNextStep) {
  start(script_around_a_crowd("spawn"), {"exit", "0"});
  ASSERT_EQ(supervisor.next(), ProcEvent(ChildStarted{}));
  std::optional<ProcEvent> exited;
  ASSERT_TRUE(eventually([&] { return (exited = supervisor.next()).has_value(); }));
  ASSERT_EQ(exited, ProcEvent(ChildExited{0, false}));
  // When
  supervisor.signal(SIGTERM, Target::tree);
  // Then
  ASSERT_TRUE(ends());
  EXPECT_FALSE(exists(dir.path("next-step")));
}

}  // namespace
}  // namespace cronlatch
