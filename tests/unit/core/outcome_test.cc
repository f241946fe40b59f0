// SPDX-License-Identifier: Apache-2.0
#include "core/outcome.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "support/json_check.h"

namespace cronlatch {
namespace {

Outcome of(Kind kind, Reason reason = Reason::none) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = reason;
  return outcome;
}

Outcome skipped() {
  Outcome outcome = of(Kind::skipped, Reason::held);
  outcome.lock = "reports/nightly";
  outcome.fence = 1'763'690'000'123'456;
  outcome.holder = "reports/nightly-29-abc";
  outcome.started = WallTime{1'795'226'400'000'000};
  return outcome;
}

TEST(ExitCode, PassesTheCommandsOwnThrough) {
  for (int code = 0; code < 256; ++code) {
    Outcome ran = of(Kind::ran);
    ran.child_code = code;
    EXPECT_EQ(exit_code(ran, 99), code);
  }
}

TEST(ExitCode, IsDistinctForEveryOtherEnd) {
  EXPECT_EQ(exit_code(of(Kind::skipped), 0), 0);
  EXPECT_EQ(exit_code(of(Kind::skipped), 42), 42);
  EXPECT_EQ(exit_code(of(Kind::busy), 42), 75);
  EXPECT_EQ(exit_code(of(Kind::lost), 42), 79);
  EXPECT_EQ(exit_code(of(Kind::store_down), 42), 69);
  EXPECT_EQ(exit_code(of(Kind::timed_out), 42), 124);
  EXPECT_EQ(exit_code(of(Kind::refused, Reason::auth), 42), 77);
  EXPECT_EQ(exit_code(of(Kind::refused, Reason::acl), 42), 77);
  EXPECT_EQ(exit_code(of(Kind::refused, Reason::tls), 42), 77);
  EXPECT_EQ(exit_code(of(Kind::refused, Reason::config), 42), 78);
  EXPECT_EQ(exit_code(of(Kind::usage), 42), 64);
}

TEST(ExitCode, IgnoresTheCodeOfAStoppedCommand) {
  for (const Kind kind : {Kind::lost, Kind::timed_out}) {
    Outcome outcome = of(kind);
    outcome.child_code = 143;
    EXPECT_NE(exit_code(outcome, 0), 143);
  }
}

TEST(ExitCode, IsThatOfTheFirstSignal) {
  Outcome outcome = of(Kind::interrupted, Reason::signal);
  outcome.signo = SIGTERM;
  EXPECT_EQ(exit_code(outcome, 0), 143);
  outcome.signo = SIGINT;
  EXPECT_EQ(exit_code(outcome, 0), 130);
}

TEST(ExitCode, DistinguishesMissingFromDeniedCommands) {
  Outcome outcome = of(Kind::cannot_start, Reason::exec);
  outcome.error = Error{Code::exec_missing, ""};
  EXPECT_EQ(exit_code(outcome, 0), 127);
  outcome.error = Error{Code::exec_denied, ""};
  EXPECT_EQ(exit_code(outcome, 0), 126);
  outcome.error = Error{Code::system, ""};
  EXPECT_EQ(exit_code(outcome, 0), 126);
}

TEST(ExitCode, OfAnErrorFollowsItsCode) {
  EXPECT_EQ(exit_code(Error{Code::usage, ""}), 64);
  EXPECT_EQ(exit_code(Error{Code::config, ""}), 78);
  EXPECT_EQ(exit_code(Error{Code::unreachable, ""}), 69);
  EXPECT_EQ(exit_code(Error{Code::auth, ""}), 77);
  EXPECT_EQ(exit_code(Error{Code::acl, ""}), 77);
  EXPECT_EQ(exit_code(Error{Code::tls, ""}), 77);
  EXPECT_EQ(exit_code(Error{Code::exec_denied, ""}), 126);
  EXPECT_EQ(exit_code(Error{Code::exec_missing, ""}), 127);
  EXPECT_EQ(exit_code(Error{Code::system, ""}), 70);
  EXPECT_EQ(exit_code(Error{Code::bug, ""}), 70);
  Outcome usage = of(Kind::usage);
  usage.error = Error{Code::config, ""};
  EXPECT_EQ(exit_code(usage, 0), 78);
}

TEST(Outcome, IsWrittenInTheOrderOfTheContract) {
  EXPECT_EQ(
      to_json(skipped(), 0),
      R"({"v":1,"outcome":"skipped","reason":"held","lock":"reports/nightly","fence":"1763690000123456",)"
      R"("holder":"reports/nightly-29-abc","exit_code":0,"waited_ms":0,"held_ms":0,"started":"2026-11-21T02:00:00Z"})");
}

TEST(Outcome, ContainsTheHoldersLeaseAndAStealOnlyIfThereIsOne) {
  Outcome outcome = skipped();
  outcome.since = WallTime{outcome.started.us - 60'000'000};
  outcome.until = WallTime{outcome.started.us + 60'000'000};
  outcome.stole = true;
  EXPECT_TRUE(to_json(outcome, 0)
                  .ends_with(R"(,"started":"2026-11-21T02:00:00Z","since":"2026-11-21T01:59:00Z",)"
                             R"("until":"2026-11-21T02:01:00Z","stolen":true})"))
      << to_json(outcome, 0);
}

TEST(Outcome, ContainsItsNumbers) {
  Outcome ran = skipped();
  ran.kind = Kind::ran;
  ran.reason = Reason::none;
  ran.child_code = 3;
  ran.waited = Millis(1'234);
  ran.held = Millis(56'789);
  const auto json = flat_json(to_json(ran, 0));
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->at("\"outcome\""), "\"ran\"");
  EXPECT_EQ(json->at("\"reason\""), "\"\"");
  EXPECT_EQ(json->at("\"exit_code\""), "3");
  EXPECT_EQ(json->at("\"waited_ms\""), "1234");
  EXPECT_EQ(json->at("\"held_ms\""), "56789");
}

TEST(Outcome, ShortensTheHolderFirst) {
  Outcome outcome = skipped();
  outcome.lock = std::string(200, 'l');
  outcome.holder = std::string(5'000, 'h');
  const std::string text = to_json(outcome, 0);
  const auto json = flat_json(text);
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(text.size(), 1'024U);
  EXPECT_EQ(json->at("\"lock\""), "\"" + outcome.lock + "\"");
  EXPECT_TRUE(json->at("\"holder\"").ends_with("hhh...\""));
}

TEST(Outcome, ShortensTheLockWhenTheHolderIsNotEnough) {
  Outcome outcome = skipped();
  outcome.lock = std::string(5'000, 'l');
  const std::string text = to_json(outcome, 0);
  const auto json = flat_json(text);
  ASSERT_TRUE(json.has_value());
  EXPECT_LE(text.size(), 1'024U);
  EXPECT_TRUE(json->at("\"lock\"").ends_with("lll...\""));
  EXPECT_EQ(json->at("\"holder\""), "\"\"");
}

TEST(Outcome, StaysValidJsonWhereverItIsCut) {
  // given: text whose characters take 1 to 6 bytes in JSON, among them bytes that are no UTF-8
  const std::string nasty = "a\"\\\n\x01€\xFFü{}\x7f";
  Outcome outcome = skipped();
  outcome.fence = UINT64_MAX;
  outcome.waited = outcome.held = Millis(INT64_MIN);
  for (std::size_t n = 0; n < 60; ++n) {
    // when
    outcome.holder.clear();
    for (std::size_t i = 0; i < 200; ++i) outcome.holder += nasty;
    outcome.lock = std::string(n, 'x') + (n % 2 == 0 ? outcome.holder : "");
    const std::string text = to_json(outcome, 255);
    // then
    EXPECT_LE(text.size(), 1'024U);
    EXPECT_GT(text.size(), 1'000U);
    EXPECT_TRUE(flat_json(text).has_value()) << text;
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(OutcomeTables, NameEveryKindAndReasonOnce) {
  std::set<std::string_view> kinds, reasons;
  for (const KindRow& row : kind_table()) {
    EXPECT_TRUE(kinds.insert(row.name).second) << row.name;
    EXPECT_EQ(name_of(row.kind), row.name);
  }
  for (const ReasonRow& row : reason_table()) {
    EXPECT_TRUE(reasons.insert(row.name).second) << row.name;
    EXPECT_EQ(name_of(row.reason), row.name);
  }
  EXPECT_EQ(kinds,
            (std::set<std::string_view>{"ran", "skipped", "busy", "lost", "store_down", "refused",
                                        "timed_out", "interrupted", "cannot_start", "usage"}));
  EXPECT_EQ(reasons, (std::set<std::string_view>{
                         "held", "done", "gone", "wait_timeout", "expired", "taken", "revoked",
                         "unreachable", "auth", "tls", "acl", "config", "exec", "max_run", "signal",
                         "ungated", "not_marked", "guardian", "quarantine"}));
  EXPECT_EQ(name_of(Reason::none), "");
  EXPECT_EQ(kind_table().size(), static_cast<std::size_t>(Kind::usage) + 1);
  EXPECT_EQ(reason_table().size(), static_cast<std::size_t>(Reason::quarantine));
}

TEST(OutcomeTables, DocumentEveryExitCode) {
  std::set<std::string_view> codes;
  for (const ExitRow& row : exit_table()) codes.insert(row.code);
  for (const char* code :
       {"0-255", "0", "64", "69", "70", "75", "77", "78", "79", "124", "126, 127", "128+n"})
    EXPECT_EQ(codes.count(code), 1U) << code;
}

}  // namespace
}  // namespace cronlatch
