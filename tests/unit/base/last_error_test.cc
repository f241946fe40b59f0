// SPDX-License-Identifier: Apache-2.0
#include "base/last_error.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

TEST(LastError, IsNewWhenItBeginsOrChanges) {
  LastError last;
  EXPECT_TRUE(last.set("refused"));
  EXPECT_FALSE(last.set("refused"));
  EXPECT_TRUE(last.set("timed out"));
  EXPECT_TRUE(last.set("refused"));
}

TEST(LastError, IsNewAgainAfterASuccess) {
  LastError last;
  last.set("refused");
  last.clear();
  EXPECT_TRUE(last.set("refused"));
}

TEST(LastError, ReportsTheFirstSuccessAndTheEndOfAnError) {
  LastError last;
  EXPECT_TRUE(last.clear());
  EXPECT_FALSE(last.clear());
  last.set("refused");
  EXPECT_TRUE(last.clear());
  EXPECT_FALSE(last.clear());
}

}  // namespace
}  // namespace cronlatch
