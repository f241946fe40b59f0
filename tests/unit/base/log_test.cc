// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include "base/secret.h"
#include "support/json_check.h"

namespace cronlatch {
namespace {

constexpr WallTime kNow{1'795'226'400'000'000};

class FixedClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint{}; }
  WallTime wall() const override { return kNow; }
};

LogLine lost() {
  return {Level::warn,
          "lease_lost",
          "the lease of reports/nightly is lost",
          {{"lock", "reports/nightly"}, {"fence", "7"}},
          "look at the store"};
}

TEST(LogLine, IsASentenceAsText) {
  EXPECT_EQ(render(lost(), LogFormat::text, kNow),
            "cronlatch: the lease of reports/nightly is lost (look at the store)");
  LogLine plain = lost();
  plain.hint.clear();
  EXPECT_EQ(render(plain, LogFormat::text, kNow),
            "cronlatch: the lease of reports/nightly is lost");
}

TEST(LogLine, CarriesEverythingAsJson) {
  EXPECT_EQ(
      render(lost(), LogFormat::json, kNow),
      R"({"time":"2026-11-21T02:00:00Z","level":"warn","event":"lease_lost","message":"the lease of reports/nightly is lost",)"
      R"("lock":"reports/nightly","fence":"7","hint":"look at the store"})");
}

TEST(LogLine, CarriesEverythingAsLogfmt) {
  EXPECT_EQ(
      render(lost(), LogFormat::logfmt, kNow),
      R"(time=2026-11-21T02:00:00Z level=warn event=lease_lost message="the lease of reports/nightly is lost" )"
      R"(lock=reports/nightly fence=7 hint="look at the store")");
}

TEST(LogLine, StaysOneLineWhateverItSays) {
  LogLine line = lost();
  line.message = line.hint = "a\nb\r\x1b[31m\x01\xFF";
  line.fields = {{"k", "x\ny=\"z\""}, {"empty", ""}};
  for (const LogFormat format : {LogFormat::text, LogFormat::json, LogFormat::logfmt}) {
    const std::string shown = render(line, format, kNow);
    for (const char c : shown) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << shown;
    EXPECT_TRUE(is_utf8(shown)) << shown;
  }
  EXPECT_TRUE(flat_json(render(line, LogFormat::json, kNow)).has_value());
  EXPECT_NE(render(line, LogFormat::logfmt, kNow).find(R"(k="x\ny=\"z\"" empty="")"),
            std::string::npos);
}

TEST(Log, ShowsWhatIsImportantEnough) {
  const FixedClock clock;
  for (const Level limit : {Level::error, Level::warn, Level::info, Level::debug}) {
    std::string out;
    const Log log(LogFormat::text, limit, clock, [&](std::string_view line) { out += line; });
    for (const Level level : {Level::error, Level::warn, Level::info, Level::debug})
      log({level, "e", std::to_string(static_cast<int>(level))});
    std::string want;
    for (int level = 0; level <= static_cast<int>(limit); ++level)
      want += "cronlatch: " + std::to_string(level) + "\n";
    EXPECT_EQ(out, want);
  }
}

TEST(Log, PassesFinishedLinesThroughAtEveryLevel) {
  const FixedClock clock;
  std::string out;
  const Log log(LogFormat::json, Level::error, clock, [&](std::string_view line) { out += line; });
  log.raw("{\"v\":1}");
  EXPECT_EQ(out, "{\"v\":1}\n");
}

TEST(Secret, ShowsOnlyThatItIsThere) {
  EXPECT_EQ(Secret("hunter2").shown(), "***");
  EXPECT_EQ(Secret("").shown(), "");
  EXPECT_EQ(Secret("hunter2").reveal(), "hunter2");
}

}  // namespace
}  // namespace cronlatch
