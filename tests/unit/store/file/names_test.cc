// SPDX-License-Identifier: Apache-2.0
// Lock names to file names: one to one, in one directory, never special, never too long.
#include "store/file/names.h"

#include <gtest/gtest.h>

#include <climits>
#include <map>
#include <set>

namespace cronlatch::file {
namespace {

TEST(FileNames, StayReadable) {
  EXPECT_EQ(*file_base("reports/nightly-2.x_y"), "reports+nightly-2.x_y");
}

TEST(FileNames, AreNeitherSpecialNorHidden) {
  for (const std::string lock : {".", "..", "/", "../../etc/passwd", ".hidden", "a/./b"}) {
    const std::string base = *file_base(lock);
    EXPECT_EQ(base.find('/'), base.npos) << lock;
    EXPECT_NE(base[0], '.') << lock;
  }
}

TEST(FileNames, DoNotCollide) {
  // Given every name of up to four of the characters that could be confused
  std::set<std::string> locks = {""};
  for (int length = 0; length < 4; ++length) {
    std::set<std::string> longer = locks;
    for (const std::string& lock : locks)
      for (const char c : {'/', '.', '+', '%', '2', 'E', 'a'}) longer.insert(lock + c);
    locks = longer;
  }
  locks.erase("");

  // When each is mapped, with every suffix
  std::map<std::string, std::string> seen;
  for (const std::string& lock : locks)
    for (const std::string& suffix :
         {lock_suffix(1), lock_suffix(2), lock_suffix(22), std::string(kMutexSuffix),
          std::string(kRecordSuffix), std::string(kDraftSuffix)}) {
      const auto [at, fresh] = seen.emplace(with_suffix(*file_base(lock), suffix), lock);
      // Then no two are equal
      EXPECT_TRUE(fresh) << lock << " and " << at->second << " are both " << at->first;
    }
}

TEST(FileNames, DecodeToTheLock) {
  for (const std::string lock : {"a", "a/b.c", "..", "a+b", "50%", "x.rec", ".rec"})
    EXPECT_EQ(lock_of_record(with_suffix(*file_base(lock), kRecordSuffix)), lock);
}

TEST(FileNames, OfOtherFilesDecodeToNoLock) {
  for (const char* name :
       {"a.lock", "a.rec.new", ".rec", "a%2.rec", "a%zz.rec", "a%61.rec", ".a.rec", "README"})
    EXPECT_EQ(lock_of_record(name), std::nullopt) << name;
}

TEST(FileNames, FitForEveryValidLockName) {
  for (const char c : {'a', '/', '.'}) {
    const auto base = file_base(std::string(200, c));
    ASSERT_TRUE(base.ok());
    for (const std::string& suffix : {std::string(kMutexSuffix), lock_suffix(kMaxSlots)})
      EXPECT_LE(with_suffix(*base, suffix).size(), std::size_t{NAME_MAX});
  }
}

TEST(FileNames, RefuseANameThatIsTooLong) {
  EXPECT_EQ(file_base("").error().code, Code::config);
  EXPECT_EQ(file_base(std::string(300, 'a')).error().code, Code::config);
  EXPECT_EQ(file_base(std::string(100, ' ')).error().code, Code::config);
}

}  // namespace
}  // namespace cronlatch::file
