// SPDX-License-Identifier: Apache-2.0
#include "operator/reconcile/decide.h"

#include <gtest/gtest.h>

#include "gated_pod.h"
#include "kube/events.h"

namespace cronlatch::op {
namespace {

using kube::Json;

const kube::ObjectRef kCronJob{"batch/v1", "CronJob", "demo", "nightly", "cronjob-uid"};

std::vector<kube::Event> events_of(const std::vector<Decision>& decisions) {
  std::vector<kube::Event> out;
  for (const Decision& decision : decisions)
    if (const auto* event = std::get_if<kube::Event>(&decision)) out.push_back(*event);
  return out;
}

std::string message(const std::string& outcome, const std::string& reason,
                    const std::string& more = "") {
  return R"({"v":1,"outcome":")" + outcome + R"(","reason":")" + reason +
         R"(","lock":"demo/nightly","fence":"7","holder":"demo/nightly-2-xyz","waited_ms":1500,)"
         R"("held_ms":61000)" +
         more + "}";
}

Json pod(const std::string& termination_message, int exit_code = 0) {
  return testing::ended_pod("nightly-2-xyz", "pod-uid", termination_message, exit_code);
}

TEST(DecideRun, RecordsNothingForAnotherMessage) {
  for (const std::string text :
       {"", "not json", R"({"v":2,"outcome":"ran"})", R"({"v":1,"outcome":"owned"})", "[[[[[[",
        R"({"v":1,"outcome":7})", "\xff\xfe"}) {
    const auto run = read_gated_run(pod(text));
    ASSERT_TRUE(run.has_value());
    EXPECT_FALSE(run->result.kind.has_value()) << text;
    EXPECT_TRUE(decide_run(*run, kCronJob).empty());
  }
}

Json silent(int exit_code, const std::string& why) {
  Json object = pod("", exit_code);
  object["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] = why;
  return object;
}

struct SilentCase {
  int exit_code;
  const char* why;
  const char* event;  // "": no Event
  Reason counted;
};

TEST(DecideRun, RecordsARunThatReportedNoResult) {
  const SilentCase cases[] = {{137, "OOMKilled", "Killed", Reason::signal},
                              {137, "Error", "Killed", Reason::signal},
                              {1, "OOMKilled", "Killed", Reason::signal},
                              {128, "StartError", "CannotStart", Reason::exec},
                              {127, "ContainerCannotRun", "CannotStart", Reason::exec},
                              {0, "Completed", "", Reason::none},
                              {3, "Error", "", Reason::none}};
  for (const SilentCase& c : cases) {
    const auto decisions = decide_run(*read_gated_run(silent(c.exit_code, c.why)), kCronJob);

    const auto events = events_of(decisions);
    if (*c.event == '\0') {
      EXPECT_TRUE(decisions.empty()) << c.why;
      continue;
    }
    ASSERT_EQ(events.size(), 2U) << c.why;
    EXPECT_EQ(events[1].reason, c.event);
    EXPECT_EQ(events[1].regarding, kCronJob);
    EXPECT_NE(events[1].note.find(c.why), std::string::npos);
    const auto& count = std::get<CountRunError>(decisions.back());
    EXPECT_EQ(count.reason, c.counted);
    EXPECT_EQ(count.cronjob, "nightly");
    EXPECT_EQ(count.namespace_name, "demo");
  }
}

TEST(DecideRun, RecordsTheHolderOnJobAndCronJob) {
  const std::string text = R"({"v":1,"outcome":"skipped","reason":"held","lock":"reports/nightly",)"
                           R"("fence":"1763690000123456","holder":"reports/nightly-1-abc"})";

  const auto events = events_of(decide_run(*read_gated_run(pod(text)), kCronJob));

  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].regarding.kind, "Job");
  EXPECT_EQ(events[1].regarding, kCronJob);
  EXPECT_EQ(events[0].reason, "Skipped");
  EXPECT_EQ(
      events[0].note,
      "pod nightly-2-xyz: skipped because lock reports/nightly is held by reports/nightly-1-abc "
      "since 2025-11-21T01:53:20Z");
}

TEST(DecideRun, RecordsTheEndOfTheLease) {
  const std::string text = message(
      "skipped", "held", R"(,"since":"2026-11-21T02:00:00Z","until":"2026-11-21T02:02:00Z")");

  const auto events = events_of(decide_run(*read_gated_run(pod(text)), {}));

  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].note.find("since 2026-11-21T02:00:00Z, lease until 2026-11-21T02:02:00Z"),
            std::string::npos);
}

struct Case {
  const char* outcome;
  const char* reason;
  const char* event;
  kube::EventType type;
  bool counted;
};
class DecideRunEach : public ::testing::TestWithParam<Case> {};

TEST_P(DecideRunEach, HasItsReason) {
  const Case& c = GetParam();
  const auto decisions = decide_run(*read_gated_run(pod(message(c.outcome, c.reason))), {});

  const auto events = events_of(decisions);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].reason, c.event);
  EXPECT_EQ(events[0].type, c.type);
  EXPECT_EQ(decisions.size(), c.counted ? 2U : 1U);
}
INSTANTIATE_TEST_SUITE_P(
    Outcomes, DecideRunEach,
    ::testing::Values(Case{"ran", "none", "Acquired", kube::EventType::normal, false},
                      Case{"ran", "ungated", "RanWithoutLock", kube::EventType::warning, false},
                      Case{"skipped", "done", "Skipped", kube::EventType::normal, false},
                      Case{"busy", "wait_timeout", "Busy", kube::EventType::warning, false},
                      Case{"lost", "expired", "Lost", kube::EventType::warning, false},
                      Case{"lost", "taken", "Stolen", kube::EventType::warning, false},
                      Case{"store_down", "unreachable", "StoreDown", kube::EventType::warning,
                           true},
                      Case{"refused", "auth", "Refused", kube::EventType::warning, true},
                      Case{"timed_out", "max_run", "TimedOut", kube::EventType::warning, false},
                      Case{"interrupted", "signal", "Interrupted", kube::EventType::normal, false},
                      Case{"cannot_start", "exec", "CannotStart", kube::EventType::warning, true},
                      Case{"usage", "config", "CannotStart", kube::EventType::warning, true}));

TEST(DecideRun, RecordsTheTakeoverOfAnExpiredLease) {
  const auto events =
      events_of(decide_run(*read_gated_run(pod(message("ran", "none", R"(,"stolen":true)"))), {}));

  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].reason, "Stolen");
  EXPECT_EQ(events[1].reason, "Acquired");
}

TEST(DecideRun, RecordsAndCountsAnIdentityThatIsDoneButNotRecorded) {
  const auto decisions =
      decide_run(*read_gated_run(pod(message("ran", "none", R"(,"not_marked":true)"))), {});

  const auto events = events_of(decisions);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].reason, "DoneNotRecorded");
  EXPECT_EQ(events[1].type, kube::EventType::warning);
  ASSERT_TRUE(std::holds_alternative<CountRunError>(decisions.back()));
  EXPECT_EQ(std::get<CountRunError>(decisions.back()).reason, Reason::not_marked);
}

}  // namespace
}  // namespace cronlatch::op
