// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/tick_window.h"

#include <gtest/gtest.h>

#include "base/rfc3339.h"

namespace cronlatch::op {
namespace {

constexpr Millis kLead{120'000};

kube::Json cronjob(const std::string& schedule) { return {{"spec", {{"schedule", schedule}}}}; }

bool is_near(const kube::Json& cronjob, const char* now) {
  return TickWindow(cronjob).is_near(*parse_rfc3339(now), kLead);
}

TEST(TickWindow, IsNearFromTheLeadToTheScheduledTime) {
  const kube::Json nightly = cronjob("30 2 * * *");
  EXPECT_FALSE(is_near(nightly, "2026-11-21T02:27:59Z"));
  EXPECT_TRUE(is_near(nightly, "2026-11-21T02:28:00Z"));
  EXPECT_TRUE(is_near(nightly, "2026-11-21T02:29:59Z"));
  EXPECT_FALSE(is_near(nightly, "2026-11-21T02:30:00Z"));
}

TEST(TickWindow, MovesWithTheTime) {
  TickWindow window(cronjob("0 * * * *"));
  int near = 0;
  for (WallTime now = *parse_rfc3339("2026-11-21T00:00:30Z"); near < 4; now.us += 60'000'000) {
    const std::int64_t minute = now.us / 60'000'000 % 60;
    ASSERT_EQ(window.is_near(now, kLead), minute == 58 || minute == 59) << rfc3339(now);
    if (minute == 59) ++near;
  }
}

TEST(TickWindow, UsesTheTimeZone) {
  kube::Json nightly = cronjob("0 2 * * *");
  nightly["spec"]["timeZone"] = "Etc/UTC";
  EXPECT_TRUE(is_near(nightly, "2026-11-21T01:59:00Z"));
  if (!find_zone("Asia/Tokyo", {"/usr/share/zoneinfo"})) GTEST_SKIP() << "no time zones here";
  nightly["spec"]["timeZone"] = "Asia/Tokyo";
  EXPECT_FALSE(is_near(nightly, "2026-11-21T01:59:00Z"));
  EXPECT_TRUE(is_near(nightly, "2026-11-20T16:59:00Z"));
}

TEST(TickWindow, OfASuspendedCronJobIsNeverNear) {
  kube::Json often = cronjob("* * * * *");
  EXPECT_TRUE(is_near(often, "2026-11-21T02:00:10Z"));
  often["spec"]["suspend"] = true;
  EXPECT_FALSE(is_near(often, "2026-11-21T02:00:10Z"));
}

TEST(TickWindow, OfUnknownTimesIsAlwaysNear) {
  kube::Json nowhere = cronjob("0 2 * * *");
  nowhere["spec"]["timeZone"] = "Nowhere/Here";
  for (const kube::Json& one : {cronjob("@every 7h"), cronjob("x"), kube::Json::object(), nowhere})
    EXPECT_TRUE(is_near(one, "2026-11-21T12:00:00Z")) << one;
}

}  // namespace
}  // namespace cronlatch::op
