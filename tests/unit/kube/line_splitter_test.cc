// SPDX-License-Identifier: Apache-2.0
#include "kube/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::kube {
namespace {

using ::testing::ElementsAre;

TEST(LineSplitter, JoinsLinesThatAreSplitAnywhere) {
  LineSplitter splitter(100);
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  };

  for (const char* part : {"on", "e\ntwo\nth", "", "ree\n\n", "rest"}) splitter.push(part, keep);

  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
}

TEST(LineSplitter, RejectsALineThatIsTooLong) {
  LineSplitter splitter(5);
  const auto keep = [](std::string_view) { return true; };

  EXPECT_TRUE(splitter.push("12345\n123", keep));
  EXPECT_FALSE(splitter.push("456", keep));
  EXPECT_TRUE(splitter.overlong());
}

}  // namespace
}  // namespace cronlatch::kube
