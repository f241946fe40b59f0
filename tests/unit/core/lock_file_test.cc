// SPDX-License-Identifier: Apache-2.0
#include "core/lock_file.h"

#include <gtest/gtest.h>

#include "core/lock_name.h"

namespace cronlatch {
namespace {

TEST(LockFile, AnOrdinaryPathIsReadableInTheName) {
  EXPECT_EQ(lock_of_file("/var/lock/nightly.lock"), "_file/var/lock/nightly.lock");
  EXPECT_EQ(lock_of_file("/var/lock/my_job"), "_file/var/lock/my_job");
}

TEST(LockFile, OtherBytesAreEscaped) {
  EXPECT_EQ(lock_of_file("/a b"), "_file/a_20b");
  EXPECT_EQ(lock_of_file("/a_20b"), "_file/a_5f20b");
  EXPECT_EQ(lock_of_file("/\xC3\xA4"), "_file/_c3_a4");
}

TEST(LockFile, NamesAndPathsAreOneToOne) {
  for (const char* path : {"/", "/a", "/a_", "/a__b", "/a_20b", "/a b", "/a_5f20b", "/_f",
                           "/a_2_20", "/\xFF\n", "/.hidden", "/a+b%c"}) {
    const std::string lock = lock_of_file(path);
    EXPECT_TRUE(check_lock_name(lock).ok()) << lock;
    EXPECT_EQ(file_of_lock(lock), path) << lock;
  }
}

TEST(LockFile, OtherLockNamesHaveNoFile) {
  for (const char* lock : {"", "job", "_file", "_filex", "_file_2fa", "_cmd/0123456789abcdef",
                           "file/a", "_file/a_62", "_file/a_5fx", "x_file/a"})
    EXPECT_EQ(file_of_lock(lock), std::nullopt) << lock;
}

TEST(LockFile, ARelativeOrLongPathIsRefused) {
  EXPECT_TRUE(check_lock_file("/var/lock/a").ok());
  EXPECT_TRUE(check_lock_file("/" + std::string(194, 'a')).ok());
  for (const std::string& path : {std::string("a"), std::string(), std::string("./a"),
                                  "/" + std::string(195, 'a'), std::string("/a\0b", 4)}) {
    const Status checked = check_lock_file(path);
    ASSERT_FALSE(checked.ok()) << path;
    EXPECT_EQ(checked.error().code, Code::config);
    EXPECT_FALSE(checked.error().hint.empty());
  }
}

}  // namespace
}  // namespace cronlatch
