// SPDX-License-Identifier: Apache-2.0
#include "registry/base64.h"

#include <gtest/gtest.h>

namespace cronlatch::registry {
namespace {

TEST(Base64, GoesThereAndBack) {
  using namespace std::string_literals;
  for (const std::string& text : {""s, "a"s, "ab"s, "abc"s, "\xff\x00z"s}) {
    const auto back = from_base64(base64(text));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, text);
  }
}

TEST(Base64, RefusesWhatLacksItsPaddingOrIsNone) {
  EXPECT_FALSE(from_base64("a").ok());
  EXPECT_FALSE(from_base64("%%%%").ok());
}

}  // namespace
}  // namespace cronlatch::registry
