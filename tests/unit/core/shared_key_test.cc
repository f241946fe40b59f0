// SPDX-License-Identifier: Apache-2.0
#include "core/shared_key.h"

#include <gtest/gtest.h>

#include "core/lock_name.h"

namespace cronlatch {
namespace {

TEST(SharedKey, AnOrdinaryKeyIsReadableInTheName) {
  EXPECT_EQ(lock_of_shared_key(KeyFormat::cronlock, "cronlock.report"),
            "_cronlock/cronlock.report");
  EXPECT_EQ(lock_of_shared_key(KeyFormat::redlock, "locks:my_job"), "_redlock/locks_3amy_job");
}

// A mixed fleet of the two has one key, and so one lock.
TEST(SharedKey, CronlockAndGolockAreOneLock) {
  EXPECT_EQ(lock_of_shared_key(KeyFormat::golock, "k"),
            lock_of_shared_key(KeyFormat::cronlock, "k"));
}

TEST(SharedKey, NamesAndKeysAreOneToOne) {
  for (const KeyFormat format : {KeyFormat::cronlock, KeyFormat::redlock})
    for (const char* key : {"a", "a:b", "a_3ab", "a_5f3ab", "/", "_", "a+b%c\"d'", "a/b.c-d"}) {
      const std::string lock = lock_of_shared_key(format, key);
      EXPECT_TRUE(check_lock_name(lock).ok()) << lock;
      EXPECT_EQ(shared_key_of_lock(lock), (SharedKey{format, key})) << lock;
    }
}

TEST(SharedKey, OtherLockNamesHaveNoKey) {
  for (const char* lock : {"", "job", "_cronlock", "_cronlock/", "cronlock/a", "_golock/a",
                           "_cronlock/a_62", "_redlock/a_7bb", "_redlock/a_20b", "x_redlock/a"})
    EXPECT_EQ(shared_key_of_lock(lock), std::nullopt) << lock;
}

TEST(SharedKey, AKeyThatSelectsAnotherSlotOrIsTooLongIsRefused) {
  EXPECT_TRUE(check_foreign_key("locks:report").ok());
  EXPECT_TRUE(check_foreign_key(std::string(150, 'a')).ok());
  for (const std::string& key :
       {std::string(), std::string("a b"), std::string("{a}b"), std::string("a}"),
        std::string("a\n"), std::string("\xC3\xA4"), std::string(151, 'a'), std::string(70, ':')}) {
    const Status checked = check_foreign_key(key);
    ASSERT_FALSE(checked.ok()) << key;
    EXPECT_EQ(checked.error().code, Code::config);
    EXPECT_FALSE(checked.error().hint.empty());
  }
}

}  // namespace
}  // namespace cronlatch
