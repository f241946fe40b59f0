// SPDX-License-Identifier: Apache-2.0
// Time zones, compared with the C library on the same files; damaged files are errors.
#include "cron/time_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/program.h"

namespace cronlatch {
namespace {

constexpr char kDirectory[] = "/usr/share/zoneinfo";

std::int32_t offset_of_c_library(const std::string& name, std::int64_t t) {
  ::setenv("TZ", name.c_str(), 1);
  ::tzset();
  const time_t when = t;
  tm local{};
  ::localtime_r(&when, &local);
  return static_cast<std::int32_t>(local.tm_gmtoff);
}

TEST(TimeZone, AgreesWithTheCLibraryWithinTheFilesAndAfterThem) {
  for (const std::string name :
       {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
        "Africa/Casablanca", "America/Sao_Paulo", "Pacific/Chatham", "Europe/Dublin"}) {
    if (!testing::exists(std::string(kDirectory) + "/" + name))
      GTEST_SKIP() << "no time-zone database";
    const Result<Zone> zone = find_zone(name, {kDirectory});
    ASSERT_TRUE(zone) << zone.error().message;
    // An odd step covers every hour of the day; up to 2099, which no file lists.
    for (std::int64_t t = 1'000'000'000; t < 4'090'000'000; t += 1'000'003)
      ASSERT_EQ(zone->offset_at(t), offset_of_c_library(name, t)) << name << " at " << t;
  }
}

TEST(TimeZone, RulesOfAllThreeKindsAreParsed) {
  Zone julian, zero_based;
  julian.rule = parse_rule("<-03>3<-02>,J60/0,J300/0");
  zero_based.rule = parse_rule("<-03>3<-02>,59/0,299/0");
  ASSERT_TRUE(julian.rule && zero_based.rule);

  EXPECT_EQ(julian.offset_at(1'803'870'000), -7'200);      // 2027-03-01T03:00Z: the 60th day
  EXPECT_EQ(julian.offset_at(1'803'869'999), -10'800);     // a second before
  EXPECT_EQ(zero_based.offset_at(1'803'870'000), -7'200);  // the same, counted from zero
}

TEST(TimeZone, ARuleMayChangeTheClocksBeyondTheEndOfTheYear) {
  Zone zone;
  // Summer time begins a week before New Year and ends on the last of June.
  zone.rule = parse_rule("AAA0BBB,J1/-167,J180");
  ASSERT_TRUE(zone.rule);

  EXPECT_EQ(zone.offset_at(1'798'160'400), 3'600);  // 2026-12-25T01:00Z: 167 hours before
  EXPECT_EQ(zone.offset_at(1'798'160'399), 0);
}

TEST(TimeZone, OffsetsAndTimesOutOfRangeAreRefused) {
  for (const std::string rule :
       {"AAA25", "AAA-25", "AAA0:60", "AAA0:00:60", "AAA-24BBB,M3.5.0,M10.5.0", "AAA0BBB,J0,J100",
        "AAA0BBB,J366,J100", "AAA0BBB,366,100", "AAA0BBB,J1/168,J100"})
    EXPECT_FALSE(parse_rule(rule)) << rule;
  // One type, whose offset is `offset`.
  const auto file = [](const std::string& offset) {
    return "TZif" + std::string(16 + 16, '\0') + std::string("\0\0\0\1\0\0\0\0", 8) + offset +
           std::string(2, '\0');
  };
  EXPECT_TRUE(parse_zone(file({'\0', '\1', '\0', '\0'})));
  EXPECT_FALSE(parse_zone(file({'\0', '\2', '\0', '\0'})));
  EXPECT_FALSE(parse_zone(file({'\x80', '\0', '\0', '\0'})));
}

TEST(TimeZone, DamagedFilesAndInvalidNamesAreErrors) {
  std::ifstream file(std::string(kDirectory) + "/Europe/Berlin", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) GTEST_SKIP() << "no time-zone database";
  for (std::size_t size = 0; size + 64 < bytes.size(); size += 7)
    EXPECT_FALSE(parse_zone(std::string_view(bytes).substr(0, size))) << size;
  for (const std::string name : {"../../etc/passwd", "/etc/passwd", "Europe/Nowhere", "a b"})
    EXPECT_FALSE(find_zone(name, {kDirectory})) << name;
  for (const std::string rule : {"", "CET", "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.5.0"})
    EXPECT_FALSE(parse_rule(rule)) << rule;
}

TEST(TimeZone, UtcNeedsNoFile) {
  EXPECT_TRUE(find_zone("UTC", {}));
  EXPECT_EQ(find_zone("", {})->offset_at(1'800'000'000), 0);
  EXPECT_THAT(find_zone("Europe/Berlin", {}).error().hint, ::testing::HasSubstr("tzdata"));
}

}  // namespace
}  // namespace cronlatch
