// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/duration.h"

namespace cronlatch {
namespace {

Millis read(std::string_view text) {
  const Result<Millis> d = parse_duration(text);
  return d.ok() ? *d : Millis(-1);
}

TEST(Duration, ReadsEveryUnit) {
  EXPECT_EQ(read("1500ms"), Millis(1'500));
  EXPECT_EQ(read("30s"), Millis(30'000));
  EXPECT_EQ(read("5m"), Millis(300'000));
  EXPECT_EQ(read("1h30m"), Millis(5'400'000));
  EXPECT_EQ(read("35d"), Millis(35LL * 86'400'000));
  EXPECT_EQ(read("1d2h3m4s5ms"), Millis(93'784'005));
  EXPECT_EQ(read("0"), Millis(0));
  EXPECT_EQ(read("0s"), Millis(0));
  EXPECT_EQ(read("007s"), Millis(7'000));
}

TEST(Duration, RefusesNumberWithoutUnitAndShowsHowToWriteIt) {
  const Result<Millis> d = parse_duration("90");
  ASSERT_FALSE(d.ok());
  EXPECT_EQ(d.error().code, Code::usage);
  EXPECT_EQ(d.error().message, "\"90\" has no unit");
  EXPECT_EQ(d.error().hint, "write it like 90s, 90m or 90h");
  EXPECT_EQ(parse_duration("1m30").error().hint, "write it like 1m30s");
  EXPECT_EQ(parse_duration("1h2m30s5").error().hint, "write it like 1h2m30s5ms");
}

TEST(Duration, RefusesWhatIsNoDuration) {
  for (const char* bad : {"",
                          "s",
                          "-5s",
                          "+5s",
                          "1.5h",
                          "5 s",
                          " 5s",
                          "5s ",
                          "5 minutes",
                          "5min",
                          "1m1m",
                          "30s1m",
                          "1h30",
                          "5S",
                          "5x",
                          "0x5s",
                          "1e3s",
                          "99999999999999999999s",
                          "999999999999d",
                          "36501d",
                          "36500d1ms"})
    EXPECT_FALSE(parse_duration(bad).ok()) << bad;
}

TEST(Duration, TakesTheLongest) { EXPECT_EQ(read("36500d"), Millis(36'500LL * 86'400'000)); }

TEST(Duration, ShowsShortTextThatReadsBack) {
  EXPECT_EQ(show_duration(Millis(0)), "0");
  EXPECT_EQ(show_duration(Millis(1'500)), "1500ms");
  EXPECT_EQ(show_duration(Millis(90'000)), "90s");
  EXPECT_EQ(show_duration(Millis(120'000)), "2m");
  EXPECT_EQ(show_duration(Millis(86'401'000)), "1d1s");
  for (std::int64_t ms = 1; ms < 4'000'000'000'000; ms = ms * 7 / 3 + 1)
    EXPECT_EQ(read(show_duration(Millis(ms))),
              Millis(ms) > Millis(36'500LL * 86'400'000) ? Millis(-1) : Millis(ms));
}

TEST(Duration, IsRoundedToATenthOfASecondForMessages) {
  EXPECT_EQ(rounded_duration(Millis(96'100)), "96.1s");
  EXPECT_EQ(rounded_duration(Millis(3'056)), "3.1s");
  EXPECT_EQ(rounded_duration(Millis(120'000)), "2m");
  EXPECT_EQ(rounded_duration(Millis(1'960)), "2s");
  EXPECT_EQ(rounded_duration(Millis(49)), "0s");
}

}  // namespace
}  // namespace cronlatch
