// SPDX-License-Identifier: Apache-2.0
#include "base/lru.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

TEST(Lru, EvictsTheLeastRecentlyUsedEntry) {
  Lru<int> lru(2);
  lru.put("a", 1);
  lru.put("b", 2);
  ASSERT_NE(lru.find("a"), nullptr);
  lru.put("c", 3);

  EXPECT_EQ(lru.find("b"), nullptr);
  ASSERT_NE(lru.find("a"), nullptr);
  EXPECT_EQ(*lru.find("a"), 1);
  EXPECT_EQ(lru.size(), 2U);
}

TEST(Lru, ReplacesWithoutGrowing) {
  Lru<int> lru(2);
  lru.put("a", 1);
  lru.put("a", 5);

  EXPECT_EQ(*lru.find("a"), 5);
  EXPECT_EQ(lru.size(), 1U);
}

}  // namespace
}  // namespace cronlatch
