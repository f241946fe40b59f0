// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

TEST(Rfc3339, ShowsWallTimesAsRfc3339) {
  EXPECT_EQ(rfc3339(WallTime{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(WallTime{1'795'226'400'999'999}), "2026-11-21T02:00:00Z");
  EXPECT_EQ(rfc3339(WallTime{1'709'164'799'000'000}), "2024-02-28T23:59:59Z");
  EXPECT_EQ(rfc3339(WallTime{1'709'164'800'000'000}), "2024-02-29T00:00:00Z");
  EXPECT_EQ(rfc3339(WallTime{-1}), "1969-12-31T23:59:59Z");
}

TEST(Rfc3339, KeepsImpossibleWallTimesReadable) {
  EXPECT_EQ(rfc3339(WallTime{INT64_MAX}), "9999-12-31T23:59:59Z");
  EXPECT_EQ(rfc3339(WallTime{INT64_MIN}), "0000-01-01T00:00:00Z");
}

TEST(Rfc3339, IsReadInEveryZone) {
  constexpr std::int64_t kAt = 1'795'226'400'000'000;  // 2026-11-21T02:00:00Z
  for (const char* text :
       {"2026-11-21T02:00:00Z", "2026-11-21T03:00:00+01:00", "2026-11-20T20:30:00-05:30",
        "2026-11-21T02:00:00.123Z", "2026-11-21T02:00:00+00:00"}) {
    ASSERT_TRUE(parse_rfc3339(text).has_value()) << text;
    EXPECT_EQ(parse_rfc3339(text)->us, kAt) << text;
  }
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "yesterday", "2026-11-21", "2026-11-21T02:00:00", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T02:60:00Z",
        "2026-11-21T02:00:00Zx", "2026-11-21T02:00:00+1:00", "-026-11-21T02:00:00Z",
        "2026-11-21 02:00:00Z"})
    EXPECT_FALSE(parse_rfc3339(text).has_value()) << text;
}

TEST(Rfc3339, IsReadWithAnyOffset) {
  const auto text = [](std::string_view t) {
    const auto time = parse_rfc3339(t);
    return time ? rfc3339(*time) : "";
  };
  EXPECT_EQ(text("2026-11-21T03:00:00+01:00"), "2026-11-21T02:00:00Z");
  EXPECT_EQ(text("2026-11-21T02:00:00.123456Z"), "2026-11-21T02:00:00Z");
  for (const std::string_view bad :
       {"", "yesterday", "2026-13-21T02:00:00Z", "2026-11-21T02:00:00", "2026-11-21T02:00:00+1",
        "2026-02-30T02:00:00Z", "2026-11-21 02:00:00Z"})
    EXPECT_EQ(text(bad), "") << bad;
}

}  // namespace
}  // namespace cronlatch
