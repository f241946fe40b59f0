// SPDX-License-Identifier: Apache-2.0
#include "operator/access/access_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "reviewer.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using ::testing::ElementsAre;
using testing::HandClock;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Reviewer;

class AccessControls : public ::testing::Test {
 protected:
  // "allowed", "unknown", "forbidden" or the error.
  std::string check(const std::string& token, const std::string& path = "/metrics",
                    const std::string& client = "192.0.2.1") {
    const auto result = control_.check({Secret(token), "", path}, client);
    if (!result) return result.error().message;
    if (result->access == Access::allowed) return "allowed";
    return result->access == Access::forbidden ? "forbidden" : "unknown";
  }
  std::size_t reviews() const { return api_.requests.size(); }
  std::size_t lines(const std::string& event) const {
    std::size_t count = 0;
    for (std::size_t at = log_text_.find(event); at != std::string::npos;
         at = log_text_.find(event, at + 1))
      ++count;
    return count;
  }

  Reviewer api_;
  HandClock clock_;
  std::string log_text_;
  Log log_{LogFormat::json, Level::info, clock_,
           [this](std::string_view line) { log_text_ += line; }};
  AccessControl control_{api_, clock_, log_, {.remembered = 4, .per_minute = 24, .at_once = 2}};
};

TEST_F(AccessControls, AnAllowedTokenIsReviewedOnceAMinute) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(check("good"), "allowed");
    clock_.pass(Seconds(15));
  }
  EXPECT_EQ(reviews(), 2u);
  EXPECT_EQ(check("good"), "allowed");
  EXPECT_EQ(reviews(), 4u);
}

TEST_F(AccessControls, TheResultIsThatOfOnePathAndToken) {
  EXPECT_EQ(check("good"), "allowed");
  EXPECT_EQ(check("good", "/status"), "forbidden");
  EXPECT_EQ(check("goo"), "unknown");
}

TEST_F(AccessControls, ARightThatWasRemovedEndsWithinAMinute) {
  EXPECT_EQ(check("good"), "allowed");
  api_.rights.clear();
  clock_.pass(Seconds(60));
  EXPECT_EQ(check("good"), "forbidden");
  EXPECT_EQ(check("good"), "forbidden");
  EXPECT_EQ(reviews(), 4u) << "a refusal is remembered, too";
}

TEST_F(AccessControls, ARightThatWasAddedIsUsedAfterTenSeconds) {
  EXPECT_EQ(check("good", "/status"), "forbidden");
  api_.rights["prometheus"].insert("/status");
  clock_.pass(Seconds(10));
  EXPECT_EQ(check("good", "/status"), "allowed");
}

TEST_F(AccessControls, RefusesWhileTheAPIServerDoesNotAnswer) {
  EXPECT_EQ(check("good"), "allowed");
  api_.status_of_failures = 0;
  EXPECT_EQ(check("good"), "allowed") << "within the minute";
  clock_.pass(Seconds(60));
  EXPECT_EQ(check("good"), "the API server did not review the token");
  EXPECT_EQ(check("good"), "the API server did not review the token");
  EXPECT_EQ(lines("access_unknown"), 1u) << log_text_;
  api_.status_of_failures.reset();
  EXPECT_EQ(check("good"), "allowed") << "an error is not remembered";
}

TEST_F(AccessControls, ARequestWithoutATokenIsNotReviewed) {
  EXPECT_EQ(check(""), "unknown");
  EXPECT_EQ(reviews(), 0u);
}

TEST_F(AccessControls, InvalidTokensAreLimitedAndDoNotExcludeAnAllowedOne) {
  EXPECT_EQ(check("good"), "allowed");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(check("bad-" + std::to_string(i)), "unknown");
  EXPECT_EQ(check("bad-5"), "too many tokens were sent; retry later");
  const std::size_t before = reviews();
  EXPECT_EQ(check("good"), "allowed") << "more refused tokens than are remembered";
  EXPECT_EQ(reviews(), before);
  clock_.pass(Seconds(59));
  for (int i = 0; i < 6; ++i) check("worse-" + std::to_string(i));
  clock_.pass(Seconds(1));
  EXPECT_EQ(check("good"), "allowed") << "its review is not limited";
  clock_.pass(Seconds(60));
  EXPECT_EQ(check("bad-5"), "unknown");
}

TEST_F(AccessControls, InvalidTokensOfOneClientDoNotExcludeANewTokenOfAnother) {
  for (int i = 0; i < 20; ++i) check("bad-" + std::to_string(i));
  EXPECT_EQ(reviews(), 6u);
  EXPECT_EQ(check("good"), "too many tokens were sent; retry later");
  EXPECT_EQ(check("good", "/metrics", "192.0.2.2"), "allowed");
}

// Each review of the Reviewer starts the next one.
TEST_F(AccessControls, SlowReviewsOfOtherTokensDoNotExcludeAnAllowedOne) {
  EXPECT_EQ(check("good"), "allowed");
  clock_.pass(Seconds(60));
  std::vector<std::string> results;
  int review = 0;
  api_.during_review = [&] {
    switch (++review) {
      case 1:
        results.push_back(check("bad-1"));
        break;
      case 2:
        results.push_back(check("bad-2"));
        results.push_back(check("good"));
        break;
      default:
        break;
    }
  };
  EXPECT_EQ(check("bad-0"), "unknown");
  EXPECT_THAT(results, ElementsAre("too many tokens were sent; retry later", "allowed", "unknown"));
  EXPECT_EQ(check("bad-2"), "unknown") << "the reviews have ended";
}

TEST_F(AccessControls, ATokenWhoseRightWasRemovedIsLimitedAgain) {
  EXPECT_EQ(check("good"), "allowed");
  api_.rights.clear();
  clock_.pass(Seconds(60));
  EXPECT_EQ(check("good"), "forbidden");
  for (int i = 0; i < 6; ++i) check("bad-" + std::to_string(i));
  clock_.pass(Seconds(10));
  ASSERT_EQ(check("bad-6"), "unknown") << "one of six in 10 s";
  EXPECT_EQ(check("good"), "too many tokens were sent; retry later");
}

TEST_F(AccessControls, TheLogContainsTheUserAndNoTokenOnceAMinute) {
  EXPECT_EQ(check("good", "/status"), "forbidden");
  for (int i = 0; i < 3; ++i) check("secret-" + std::to_string(i));
  EXPECT_EQ(lines("access_refused"), 1u) << log_text_;
  EXPECT_THAT(log_text_, HasSubstr(R"("user":"prometheus")"));
  clock_.pass(Seconds(60));
  check("secret-4");
  EXPECT_EQ(lines("access_refused"), 2u);
  EXPECT_THAT(log_text_, Not(HasSubstr("secret-")));
}

}  // namespace
}  // namespace cronlatch::op
