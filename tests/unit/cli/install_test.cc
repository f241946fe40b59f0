// SPDX-License-Identifier: Apache-2.0
// `cronlatch install`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/subcommand.h"
#include "unit/cli/fixed_clock.h"

namespace cronlatch {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Install, PutsAnExecutableCopyOfThisProgramAndNothingElse) {
  // given
  std::string dir = testing::TempDir() + "install.XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  const FixedClock clock;

  // when: twice, as when a pod is restarted
  ASSERT_TRUE(install_command({{dir}, {}, clock}).ok());
  const Result<CommandOutput> again = install_command({{dir}, {}, clock});

  // then
  ASSERT_TRUE(again.ok()) << again.error().message;
  struct stat is {};
  ASSERT_EQ(stat((dir + "/cronlatch").c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777, 0555U);
  EXPECT_TRUE(bytes_of(dir + "/cronlatch") == bytes_of("/proc/self/exe"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir), {}), 1);
  std::filesystem::remove_all(dir);
}

TEST(Install, RefusesAnEmptyName) {
  const FixedClock clock;

  const Result<CommandOutput> installed = install_command({{""}, {}, clock});

  ASSERT_FALSE(installed.ok());
  EXPECT_EQ(installed.error().code, Code::usage);
}

TEST(Install, NamesADirectoryThatIsMissing) {
  const FixedClock clock;

  const Result<CommandOutput> installed = install_command({{"/no/such/directory"}, {}, clock});

  ASSERT_FALSE(installed.ok());
  EXPECT_EQ(installed.error().code, Code::config);
  EXPECT_THAT(installed.error().message, testing::HasSubstr("/no/such/directory"));
  EXPECT_THAT(installed.error().hint, testing::HasSubstr("create the directory"));
}

}  // namespace
}  // namespace cronlatch
