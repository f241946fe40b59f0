// SPDX-License-Identifier: Apache-2.0
// `cronlatch install` where it cannot succeed: the error contains the fix, and no file is left.
#include <filesystem>

#include "gated.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

class Install : public ::testing::Test {
 protected:
  // Installs into `volume` after `setup`, in a mount namespace of its own.
  ProgramSpec install_after(const std::string& setup) const {
    const std::string left =
        "; code=$?; ls -A " + volume + " >" + dir.path("left") + "; exit $code";
    return {.argv = {"/usr/bin/unshare", "-m", "/bin/sh", "-c",
                     setup + " && { " + binary() + " install " + volume + left + "; }"}};
  }
  ScratchDir dir;
  const std::string volume = dir.path("volume");
};

TEST_F(Install, OnAFullFileSystemNamesTheSpaceThatItNeeds) {
  if (::geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can mount";
  // Given
  std::filesystem::create_directory(volume);
  Program program(install_after("mount -t tmpfs -o size=1m tmpfs " + volume));
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 78) << program.err();
  EXPECT_THAT(program.err(), HasSubstr("the file system needs 8 MiB of free space"));
  EXPECT_EQ(read_file(dir.path("left")), "");
}

TEST_F(Install, WithoutProcAsksForIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can mount";
  // Given
  std::filesystem::create_directory(volume);
  Program program(install_after("mount -t tmpfs tmpfs /proc"));
  // When
  const auto code = program.exit_code();
  // Then
  EXPECT_EQ(code, 78) << program.err();
  EXPECT_THAT(program.err(), HasSubstr("mount /proc"));
}

}  // namespace
}  // namespace cronlatch::testing
