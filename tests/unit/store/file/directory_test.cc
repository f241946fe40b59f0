// SPDX-License-Identifier: Apache-2.0
// Which directories a file store accepts, creates and refuses.
#include "store/file/directory.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <climits>

#include "unit/store/file/support.h"

namespace cronlatch::file {
namespace {

using testing::Child;
using testing::TempDir;

mode_t mode_of(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
}

std::string refusal(const std::string& path) {
  const auto opened = open_directory(path, IfMissing::create);
  if (opened) return "";
  EXPECT_EQ(opened.error().code, Code::config);
  EXPECT_FALSE(opened.error().hint.empty());
  return opened.error().message;
}

TEST(FileDirectory, IsCreatedWithItsParentsForThisUserOnly) {
  const TempDir temp;
  const auto opened = open_directory(temp / "a/b/c", IfMissing::create);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(opened->has_value());
  for (const char* part : {"a", "a/b", "a/b/c"}) EXPECT_EQ(mode_of(temp / part), 0700u) << part;
}

TEST(FileDirectory, IsNotCreatedByAReader) {
  const TempDir temp;
  const auto opened = open_directory(temp / "none", IfMissing::no_value);
  ASSERT_TRUE(opened.ok());
  EXPECT_FALSE(opened->has_value());
  EXPECT_FALSE(std::filesystem::exists(temp / "none"));
}

TEST(FileDirectory, CanBeReadableForOtherUsers) {
  const TempDir temp;
  chmod(temp.path().c_str(), 0755);
  EXPECT_EQ(refusal(temp.path()), "");
}

TEST(FileDirectory, ThatIsWritableForOtherUsersIsRefused) {
  const TempDir temp;
  for (const mode_t mode : {0770u, 0707u, 01777u}) {
    chmod(temp.path().c_str(), mode);
    EXPECT_NE(refusal(temp.path()).find("is writable for other users"), std::string::npos) << mode;
  }
}

TEST(FileDirectory, ThatIsALinkIsRefused) {
  const TempDir temp;
  std::filesystem::create_directory(temp / "real");
  std::filesystem::create_symlink(temp / "real", temp / "link");
  std::filesystem::create_symlink(temp / "nowhere", temp / "dangling");
  EXPECT_NE(refusal(temp / "link").find("is a symbolic link"), std::string::npos);
  EXPECT_NE(refusal(temp / "dangling"), "");
}

TEST(FileDirectory, ThatIsAFileIsRefused) {
  const TempDir temp;
  testing::write_file(temp / "file", "");
  EXPECT_NE(refusal(temp / "file").find("is not a directory"), std::string::npos);
  EXPECT_NE(refusal(temp / "file/below"), "");
}

TEST(FileDirectory, OfAnotherUserIsRefusedAlsoByRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const TempDir temp;
  ASSERT_EQ(chown(temp.path().c_str(), 12345, 12345), 0);
  EXPECT_NE(refusal(temp.path()).find("belongs to user 12345"), std::string::npos);
}

TEST(FileDirectory, OfRootIsAcceptedByAUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const TempDir temp;
  chmod(temp.path().c_str(), 0755);
  Child user([&] {
    if (setuid(12345) != 0) return 2;
    return open_directory(temp.path(), IfMissing::create).ok() ? 0 : 1;
  });
  EXPECT_EQ(user.join(), 0);
}

TEST(FileDirectory, ThatCannotBeCreatedIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const TempDir temp;
  chmod(temp.path().c_str(), 0755);
  Child user([&] {
    if (setuid(12345) != 0) return 2;
    return refusal(temp / "a/b").find("cannot create " + (temp / "a")) == 0 ? 0 : 1;
  });
  EXPECT_EQ(user.join(), 0);
}

TEST(FileDirectory, PathIsPlainAndAbsolute) {
  EXPECT_EQ(*check_directory_path("/run/cronlatch//"), "/run/cronlatch");
  for (const std::string path : {"", "/", "relative", "/a/../b", "/a/./b", "/a//b", "/a/."})
    EXPECT_EQ(check_directory_path(path).ok(), false) << path;
  EXPECT_FALSE(check_directory_path("/" + std::string(PATH_MAX, 'a')).ok());
  EXPECT_FALSE(check_directory_path(std::string("/a\0b", 4)).ok());
}

TEST(FileDirectory, PathCanBeAsLongAsTheKernelAllows) {
  const TempDir temp;
  std::string path = temp.path();
  while (path.size() + 1 + 200 < PATH_MAX) path += "/" + std::string(200, 'd');
  path += "/" + std::string(PATH_MAX - 1 - path.size() - 1, 'e');
  ASSERT_EQ(path.size(), std::size_t{PATH_MAX - 1});
  ASSERT_TRUE(check_directory_path(path).ok());
  EXPECT_EQ(refusal(path), "");
}

TEST(FileDirectory, OnANetworkFileSystemIsRefused) {
  for (const unsigned long type :
       {static_cast<unsigned long>(NFS_SUPER_MAGIC), 0xFF534D42UL, 0xFE534D42UL, 0x01021997UL,
        0x00C36400UL, 0x0BD00BD0UL, 0x01161970UL, 0x7461636FUL})
    EXPECT_NE(network_file_system(type), nullptr) << std::hex << type;
}

TEST(FileDirectory, OnALocalOverlayOrFuseFileSystemIsAccepted) {
  for (const unsigned long type : {static_cast<unsigned long>(EXT4_SUPER_MAGIC), 0x01021994UL,
                                   0x58465342UL, 0x9123683EUL, 0x794C7630UL, 0x65735546UL})
    EXPECT_EQ(network_file_system(type), nullptr) << std::hex << type;
}

}  // namespace
}  // namespace cronlatch::file
