// SPDX-License-Identifier: Apache-2.0
#include "admission/settings_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace cronlatch::op {
namespace {

TEST(SettingsPage, IsUpToDate) {
  const Page page = settings_page();
  std::ifstream file(std::string(CRONLATCH_SOURCE_DIR) + "/" + page.path, std::ios::binary);

  const std::string committed{std::istreambuf_iterator<char>(file),
                              std::istreambuf_iterator<char>()};

  EXPECT_TRUE(committed == page.text) << page.path << " is out of date: run ./dev gen";
}

}  // namespace
}  // namespace cronlatch::op
