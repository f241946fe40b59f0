// SPDX-License-Identifier: Apache-2.0
#include "gated/run_result.h"

#include <gtest/gtest.h>

#include <limits>

namespace cronlatch {
namespace {

std::string message(const std::string& members) {
  return R"({"v":1,"outcome":"ran",)" + members + "}";
}

const Outcome kLost{.kind = Kind::lost,
                    .reason = Reason::expired,
                    .child_code = {},
                    .error = {},
                    .lock = "a/b",
                    .holder = "me",
                    .fence = 42,
                    .waited = Millis(7),
                    .held = Millis(8),
                    .since = WallTime{1'763'690'000'000'000},
                    .until = WallTime{1'763'690'120'000'000},
                    .stole = true,
                    .not_marked = true};

TEST(RunResult, IsTheOutcomeOfTheWrapper) {
  const RunResult result = read_run_result(to_json(kLost, 0));

  EXPECT_EQ(result.kind, Kind::lost);
  EXPECT_EQ(result.reason, Reason::expired);
  EXPECT_EQ(result.lock, "a/b");
  EXPECT_EQ(result.holder, "me");
  EXPECT_EQ(result.fence, "42");
  EXPECT_EQ(result.waited, Millis(7));
  EXPECT_EQ(result.held, Millis(8));
  EXPECT_EQ(result.since, "2025-11-21T01:53:20Z");
  EXPECT_EQ(result.until, "2025-11-21T01:55:20Z");
  EXPECT_TRUE(result.stole);
  EXPECT_TRUE(result.not_marked);
}

TEST(RunResult, HasEveryKindAndEveryReason) {
  for (const KindRow& row : kind_table()) {
    const std::string text = R"({"v":1,"outcome":")" + std::string(row.name) + R"("})";
    EXPECT_EQ(read_run_result(text).kind, row.kind) << text;
  }
  for (const ReasonRow& row : reason_table())
    EXPECT_EQ(read_run_result(message(R"("reason":")" + std::string(row.name) + '"')).reason,
              row.reason)
        << row.name;
}

TEST(RunResult, IsEmptyForAnyOtherMessage) {
  for (const std::string text :
       {"", "panic: out of cheese", "[[[[[[", "\xff\xfe", "null", "[]", R"({"outcome":"ran"})",
        R"({"v":2,"outcome":"ran"})", R"({"v":"1","outcome":"ran"})", R"({"v":1,"outcome":"rang"})",
        R"({"v":1,"outcome":7})", R"({"v":1,"outcome":"ran","outcome":"ran"})"})
    EXPECT_EQ(read_run_result(text).kind, std::nullopt) << text;
}

TEST(RunResult, IsEmptyForEveryBeginningOfAMessage) {
  const std::string whole = to_json(kLost, 0);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(read_run_result(std::string_view(whole).substr(0, size)).kind, std::nullopt) << size;
}

TEST(RunResult, AcceptsAtMostWhatTheKubeletKeeps) {
  const auto of_size = [](std::size_t bytes) {
    const std::size_t frame = message(R"("x":"")").size();
    return message(R"("x":")" + std::string(bytes - frame, 'x') + '"');
  };
  EXPECT_EQ(read_run_result(of_size(4'096)).kind, Kind::ran);
  EXPECT_EQ(read_run_result(of_size(4'097)).kind, std::nullopt);
}

TEST(RunResult, ContainsOnlyShortPrintableText) {
  const RunResult result = read_run_result(
      message(R"("holder":"\u001b[31mred\nline","lock":")" + std::string(2'000, 'l') + '"'));
  EXPECT_EQ(result.holder, "\\x1b[31mred\\nline");
  EXPECT_LT(result.lock.size(), 310U);
}

TEST(RunResult, LimitsTimesSoThatNoSentenceOverflows) {
  const auto held = [](const std::string& number) {
    return read_run_result(message(R"("held_ms":)" + number)).held;
  };
  constexpr Millis kCentury{3'153'600'000'000};
  EXPECT_EQ(held("61000"), Millis(61'000));
  EXPECT_EQ(held("-5"), Millis(0));
  EXPECT_EQ(held("1e30"), Millis(0));
  EXPECT_EQ(held("\"5\""), Millis(0));
  EXPECT_EQ(held(std::to_string(std::numeric_limits<std::int64_t>::max())), kCentury);
}

TEST(FactsOf, HasEveryMemberOfTheResult) {
  const OutcomeFacts facts = facts_of(read_run_result(to_json(kLost, 0)), Kind::lost, 79);

  EXPECT_EQ(facts.kind, Kind::lost);
  EXPECT_EQ(facts.reason, Reason::expired);
  EXPECT_EQ(facts.lock, "a/b");
  EXPECT_EQ(facts.holder, "me");
  EXPECT_EQ(facts.fence, "42");
  EXPECT_EQ(facts.since, "2025-11-21T01:53:20Z");
  EXPECT_EQ(facts.until, "2025-11-21T01:55:20Z");
  EXPECT_EQ(facts.waited, Millis(7));
  EXPECT_EQ(facts.held, Millis(8));
  EXPECT_EQ(facts.exit_code, 79);
}

}  // namespace
}  // namespace cronlatch
