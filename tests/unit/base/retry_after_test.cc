// SPDX-License-Identifier: Apache-2.0
#include "base/retry_after.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

TEST(RetryAfter, IsSecondsADateOrAUnixTime) {
  const WallTime now{1'763'690'000'000'000};  // 2025-11-21T01:53:20Z
  EXPECT_EQ(retry_after("120", now), Millis(120'000));
  EXPECT_EQ(retry_after("1763690060", now), Millis(60'000));
  EXPECT_EQ(retry_after("Fri, 21 Nov 2025 01:54:20 GMT", now), Millis(60'000));
  EXPECT_EQ(retry_after("Fri, 21 Nov 2025 01:52:20 GMT", now), Millis(0));
  EXPECT_EQ(retry_after("999999", now), Millis(6 * 3'600'000));
  for (const char* text : {"", "-5", "soon", "12 minutes", "99999999999999999999"})
    EXPECT_EQ(retry_after(text, now), Millis(0)) << text;
}

}  // namespace
}  // namespace cronlatch
