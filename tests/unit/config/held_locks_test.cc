// SPDX-License-Identifier: Apache-2.0
#include "config/held_locks.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using Environment = std::vector<std::string>;

const std::string kStore = "redis://h 6379 0 cronlatch:";
const std::string kA = held_lock(kStore, "a");
const std::string kB = held_lock(kStore, "b");
const std::string kOuter = "1.20.300";
const std::string kEnded = "1.21.300";

bool is_ended(std::string_view process) { return process == kEnded; }

Status nested(const Environment& environment, const std::string& lock) {
  return refuse_nested(environment, held_lock(kStore, lock), lock, is_ended);
}

Environment inside(const Environment& around, const std::string& lock,
                   const std::string& process = kOuter) {
  return held_variable(around, lock, process, is_ended);
}

TEST(Nested, IsRefusedForTheLockOfTheRunAround) {
  const Status refused = nested(inside({}, kA), "a");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::config);
  EXPECT_NE(refused.error().message.find("\"a\""), std::string::npos);
  EXPECT_FALSE(refused.error().hint.empty());
}

TEST(Nested, IsRefusedForALockFurtherOut) {
  const Environment inner = inside(inside({}, kA), kB);
  EXPECT_FALSE(nested(inner, "a").ok());
  EXPECT_FALSE(nested(inner, "b").ok());
  EXPECT_TRUE(nested(inner, "c").ok());
}

TEST(Nested, IsAllowedForTheSameNameInAnotherStore) {
  const Environment around = inside({}, held_lock("file:///run/cronlatch", "a"));
  EXPECT_TRUE(nested(around, "a").ok());
}

TEST(Nested, IsNotRefusedForANameAlone) {
  EXPECT_TRUE(nested({"CRONLATCH_LOCK_NAME=a"}, "a").ok());
  EXPECT_TRUE(nested({}, "a").ok());
}

TEST(Nested, StillKnowsTheRunsAroundWhenTheOneBetweenHoldsNoLock) {
  const Environment between = inside(inside({}, kA), "");
  EXPECT_FALSE(nested(between, "a").ok());
  EXPECT_TRUE(inside({}, "").empty());
}

TEST(Nested, IsNotRefusedForARunThatHasEnded) {
  const Environment left = {"_CRONLATCH_HELD=" + kA + "@" + kEnded};
  EXPECT_TRUE(nested(left, "a").ok());
  EXPECT_FALSE(nested(inside(left, kA), "a").ok());
}

TEST(Nested, IsRefusedForALockWithoutAProcess) {
  EXPECT_FALSE(nested(inside({}, kA, ""), "a").ok());
}

// A process that was left behind can start the next one for ever.
TEST(Nested, ForgetsRunsThatHaveEnded) {
  std::string left = "_CRONLATCH_HELD=";
  for (int i = 0; i < 100; ++i) left += kB + "@" + kEnded + ",";
  const Environment around = inside({left}, kA);
  EXPECT_EQ(around, (Environment{"_CRONLATCH_HELD=" + kA + "@" + kOuter}));
  EXPECT_FALSE(nested(around, "a").ok());
}

TEST(Nested, HandsOnOnlyWhatItCouldHaveWritten) {
  const Environment changed = {"_CRONLATCH_HELD=,x," + std::string(5'000, 'a') + "," + kA +
                               ",ABCDEF0123456789\n," + kB + "@$(date)"};
  EXPECT_FALSE(nested(changed, "a").ok());
  EXPECT_EQ(inside(changed, kB), (Environment{"_CRONLATCH_HELD=" + kA + "," + kB + "@" + kOuter}));
}

TEST(Nested, IsRefusedWhenItIsTooDeep) {
  Environment around;
  for (int depth = 0; depth < 64; ++depth) {
    EXPECT_TRUE(nested(around, "a").ok()) << depth;
    around = inside(around, held_lock(kStore, std::to_string(depth)));
  }
  const Status refused = nested(around, "a");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("64"), std::string::npos);
}

TEST(Nested, ReplacesTheVariableInsteadOfAddingASecondOne) {
  EXPECT_EQ(without_held(Environment{"A=1", "_CRONLATCH_HELD=x", "_CRONLATCH_HELD=y", "B"}),
            (Environment{"A=1", "B"}));
}

}  // namespace
}  // namespace cronlatch
