// SPDX-License-Identifier: Apache-2.0
// resolve_command: the search of execvp, with the codes 126 and 127 and a reason for each.
#include "proc/command.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/program.h"

namespace cronlatch {
namespace {

using testing::ScratchDir;

class Commands : public ::testing::Test {
 protected:
  std::string file(const std::string& name, mode_t mode) {
    const std::string path = dir.path(name);
    std::ofstream(path) << "#!/bin/sh\n";
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string folder(const std::string& name) {
    ::mkdir(dir.path(name).c_str(), 0755);
    return dir.path(name);
  }
  ScratchDir dir;
};

TEST_F(Commands, AreFoundInTheFirstEntryOfPathThatHasThem) {
  // Given
  folder("a"), folder("b"), folder("c");
  file("b/job", 0755), file("c/job", 0755);
  // When
  const auto found = resolve_command(
      {"job", "x"}, {"PATH=" + dir.path("a") + ":" + dir.path("b") + ":" + dir.path("c")});
  // Then
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->path, dir.path("b/job"));
  EXPECT_EQ(found->argv, (std::vector<std::string>{"job", "x"}));
}

TEST_F(Commands, ThatMayNotBeExecutedAreSkippedWhenALaterEntryHasOneThatMay) {
  // Given
  folder("a"), folder("b");
  file("a/job", 0644), file("b/job", 0755);
  // When
  const auto found = resolve_command({"job"}, {"PATH=" + dir.path("a") + ":" + dir.path("b")});
  // Then
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->path, dir.path("b/job"));
}

TEST_F(Commands, ThatMayNotBeExecutedAreDeniedEvenWhenALaterEntryHasNone) {
  // Given
  folder("a"), folder("b");
  file("a/job", 0644);
  // When
  const auto found = resolve_command({"job"}, {"PATH=" + dir.path("a") + ":" + dir.path("b")});
  // Then
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::exec_denied);
  EXPECT_NE(found.error().message.find(dir.path("a/job")), std::string::npos);
}

TEST_F(Commands, ThatAreNowhereAreMissingAndThePathIsNamed) {
  // Given
  const std::string path = folder("a");
  // When
  const auto found = resolve_command({"no-such-job"}, {"PATH=" + path});
  // Then
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::exec_missing);
  EXPECT_EQ(found.error().message, "command \"no-such-job\" not found in PATH (" + path + ")");
}

TEST_F(Commands, WithASlashAreNotSearchedFor) {
  // Given
  const std::string path = file("job", 0755);
  // When
  const auto found = resolve_command({path}, {"PATH=/nowhere"});
  const auto lost = resolve_command({dir.path("sub/job")}, {"PATH=" + dir.path()});
  // Then
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->path, path);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, Code::exec_missing);
}

TEST_F(Commands, ThatAreDirectoriesAreDenied) {
  // Given
  const std::string path = folder("job");
  // When
  const auto direct = resolve_command({path}, {});
  const auto searched = resolve_command({"job"}, {"PATH=" + dir.path()});
  // Then
  ASSERT_FALSE(direct.ok());
  EXPECT_EQ(direct.error().code, Code::exec_denied);
  ASSERT_FALSE(searched.ok());
  EXPECT_EQ(searched.error().code, Code::exec_denied);
}

TEST_F(Commands, AreFoundInTheCurrentDirectoryThroughAnEmptyEntry) {
  // Given
  file("job", 0755);
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  // When
  const auto leading = resolve_command({"job"}, {"PATH=:/nowhere"});
  const auto trailing = resolve_command({"job"}, {"PATH=/nowhere:"});
  std::filesystem::current_path(before);
  // Then
  ASSERT_TRUE(leading.ok());
  EXPECT_EQ(leading->path, "./job");
  ASSERT_TRUE(trailing.ok());
  EXPECT_EQ(trailing->path, "./job");
}

TEST_F(Commands, AreFoundInTheSystemsPlacesWithoutPath) {
  // Given
  const std::vector<std::string> no_path = {"HOME=/"};
  // When
  const auto found = resolve_command({"sh"}, no_path);
  // Then
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->path, "/bin/sh");
}

TEST_F(Commands, ThatAreOneWordWithSpacesGetAHint) {
  // Given
  const std::vector<std::string> argv = {"echo hello"};
  // When
  const auto found = resolve_command(argv, {"PATH=/bin"});
  // Then
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::exec_missing);
  EXPECT_NE(found.error().hint.find("separate words"), std::string::npos);
}

TEST_F(Commands, ThatAreEmptyAreRefused) {
  // Given nothing
  // When
  const auto none = resolve_command({}, {});
  const auto empty = resolve_command({""}, {});
  // Then
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::usage);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, Code::exec_missing);
}

}  // namespace
}  // namespace cronlatch
