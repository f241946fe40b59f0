// SPDX-License-Identifier: Apache-2.0
#include "core/outcome_text.h"

#include <gtest/gtest.h>

namespace cronlatch {
namespace {

OutcomeFacts facts(Kind kind, Reason reason) {
  return {.kind = kind,
          .reason = reason,
          .lock = "shop/nightly",
          .holder = "shop/nightly-1-abc",
          .fence = "1763690000123456",
          .since = "",
          .until = "",
          .waited = Millis(1'500),
          .held = Millis(61'000),
          .exit_code = 3};
}

TEST(OutcomeSummary, GivesResultAndReason) {
  EXPECT_EQ(outcome_summary(Kind::skipped, Reason::held),
            "skipped because another run holds the lock");
  EXPECT_EQ(outcome_summary(Kind::lost, Reason::revoked),
            "stopped because the lease was revoked (cronlatch release --force)");
  EXPECT_EQ(outcome_summary(Kind::refused, Reason::auth),
            "not started because the store refused the user or the password");
  EXPECT_EQ(outcome_summary(Kind::ran, Reason::none), "ran to its end");
}

TEST(OutcomeSummary, HasNoMarkupAndAResultForEveryPair) {
  for (const KindRow& kind : kind_table())
    for (const ReasonRow& reason : reason_table()) {
      const std::string text = outcome_summary(kind.kind, reason.reason);
      EXPECT_EQ(text.find('`'), std::string::npos) << text;
      EXPECT_FALSE(text.starts_with(" because")) << kind.name;
      EXPECT_NE(text.find(" because "), std::string::npos) << text;
    }
}

TEST(OutcomeSentence, OfARunNamesLockTimesFenceAndExitCode) {
  EXPECT_EQ(outcome_sentence(facts(Kind::ran, Reason::none)),
            "held lock shop/nightly for 61s after a wait of 1.5s (fence 1763690000123456); exit "
            "code 3");
  EXPECT_EQ(outcome_sentence(facts(Kind::ran, Reason::ungated)),
            "ran without a lock because the store was unavailable and on-store-down is run; exit "
            "code 3");
}

TEST(OutcomeSentence, OfASkipNamesTheHolderAndItsLease) {
  OutcomeFacts skipped = facts(Kind::skipped, Reason::held);
  EXPECT_EQ(outcome_sentence(skipped),
            "skipped because lock shop/nightly is held by shop/nightly-1-abc since "
            "2025-11-21T01:53:20Z");
  skipped.since = "2026-11-21T02:00:00Z";
  skipped.until = "2026-11-21T02:02:00Z";
  EXPECT_TRUE(outcome_sentence(skipped).ends_with(
      " since 2026-11-21T02:00:00Z, lease until 2026-11-21T02:02:00Z"));
  EXPECT_EQ(outcome_sentence(facts(Kind::skipped, Reason::done)),
            "skipped because the identity given by once-per is already done");
}

TEST(OutcomeSentence, GivesNoTimeForAFenceThatIsNotATime) {
  for (const std::string fence : {"7", "", "17636900001234x6", "-763690000123456"}) {
    OutcomeFacts skipped = facts(Kind::skipped, Reason::held);
    skipped.fence = fence;
    skipped.holder = "";
    EXPECT_EQ(outcome_sentence(skipped), "skipped because lock shop/nightly is held by another run")
        << fence;
  }
}

TEST(OutcomeSentence, OfAWaitThatTimedOutNamesBothWaitAndHolder) {
  OutcomeFacts busy = facts(Kind::busy, Reason::wait_timeout);
  busy.fence = "7";
  EXPECT_EQ(outcome_sentence(busy),
            "not started because wait-timeout passed after 1.5s; lock shop/nightly is held by "
            "shop/nightly-1-abc");
  busy.reason = Reason::held;
  EXPECT_EQ(outcome_sentence(busy),
            "not started because lock shop/nightly is held by shop/nightly-1-abc");
}

TEST(OutcomeSentence, OfAStoppedCommandNamesHowLongItRan) {
  EXPECT_EQ(outcome_sentence(facts(Kind::lost, Reason::expired)),
            "stopped after 61s because the lease could not be renewed in time; lock shop/nightly, "
            "fence 1763690000123456");
  EXPECT_EQ(outcome_sentence(facts(Kind::timed_out, Reason::max_run)),
            "stopped after 61s because the command ran longer than max-run; lock shop/nightly, "
            "fence 1763690000123456");
}

TEST(OutcomeSentence, OfAnUnavailableStoreNamesHowLongItWasTried) {
  EXPECT_EQ(
      outcome_sentence(facts(Kind::store_down, Reason::unreachable)),
      "not started because the store was unavailable (no answer, or a temporary error); retried "
      "for 1.5s");
}

}  // namespace
}  // namespace cronlatch
