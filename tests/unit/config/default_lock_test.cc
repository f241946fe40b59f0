// SPDX-License-Identifier: Apache-2.0
#include "config/default_lock.h"

#include <gtest/gtest.h>

#include "core/lock_name.h"
#include "fake_files.h"
#include "options/options.h"

namespace cronlatch {
namespace {

using Words = std::vector<std::string>;

TEST(DefaultLock, IsTheHashOfTheArgumentsJoinedByNul) {
  // printf 'sh\0-c\0true' | sha256sum, printf true | sha256sum
  EXPECT_EQ(default_lock(Words{"sh", "-c", "true"}), "_cmd/072236b71fa23a03");
  EXPECT_EQ(default_lock(Words{"true"}), "_cmd/b5bea41b6c623f7c");
}

TEST(DefaultLock, DistinguishesArgumentsFromBlanks) {
  EXPECT_NE(default_lock(Words{"a", "b"}), default_lock(Words{"a b"}));
  EXPECT_NE(default_lock(Words{"a", ""}), default_lock(Words{"a"}));
}

TEST(DefaultLock, IsAValidName) { EXPECT_TRUE(check_lock_name(default_lock(Words{"x"})).ok()); }

TEST(DefaultHolder, NamesHostProcessAndBoot) {
  EXPECT_EQ(default_holder(kHost, FakeFiles{{"/proc/sys/kernel/random/boot_id", "abc\n"}}),
            "node1:42:abc");
  EXPECT_EQ(default_holder(kHost, FakeFiles{}), "node1:42");
}

TEST(DefaultStore, FollowsTheUser) {
  EXPECT_EQ(default_store({0, 1, "h"}), "file:///run/cronlatch");
  EXPECT_EQ(default_store({1'000, 1, "h"}), "file:///tmp/cronlatch-1000");
}

TEST(FillIn, LeavesWhatIsSet) {
  Options options;
  options.lock = "a";
  options.store = "redis://h";
  options.holder = "me";
  set_derived_defaults(options, Words{"true"}, kHost, FakeFiles{});
  EXPECT_EQ(options.lock + options.store + options.holder, "aredis://hme");
}

TEST(FillIn, ALockFileIsTheLock) {
  Options options;
  options.lock_file = "/var/lock/a b";
  set_derived_defaults(options, Words{"true"}, kHost, FakeFiles{});
  EXPECT_EQ(options.lock, "_file/var/lock/a_20b");
}

TEST(FillIn, AKeyOfAnotherProgramIsTheLock) {
  Options options;
  options.key_format = KeyFormat::redlock;
  options.foreign_key = "locks:a";
  set_derived_defaults(options, Words{"true"}, kHost, FakeFiles{});
  EXPECT_EQ(options.lock, "_redlock/locks_3aa");
}

}  // namespace
}  // namespace cronlatch
