// SPDX-License-Identifier: Apache-2.0
// Which requests the lookup of an image sends.
#include "registry/registry_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/counting_registry.h"
#include "support/hand_clock.h"

namespace cronlatch::registry {
namespace {

using cronlatch::testing::CountingRegistry;
using cronlatch::testing::HandClock;
using cronlatch::testing::head_answer;
using ::testing::HasSubstr;
using Kind = HeadResult::Kind;

constexpr Millis kHour{3'600'000};

class RegistryQueryTest : public ::testing::Test {
 protected:
  Result<ImageInfo> ask(const std::string& image = "r.example/a:1") {
    LookupRequest request{*image::parse_reference(image), {"amd64"}};
    request.namespace_name = namespace_name_;
    return query_(request, clock_.now() + Millis(1'000), {});
  }
  std::string command(const std::string& image = "r.example/a:1") {
    const auto info = ask(image);
    return info ? info->platforms.at(0).command.entrypoint.at(0) : info.error().message;
  }
  HandClock clock_;
  CountingRegistry registry_;
  std::string namespace_name_ = "team";
  RegistryPace pace_{clock_, [] { return 0.0; }};
  std::vector<std::string> reported_;
  RegistryQuery query_ = make_registry_query(
      {registry_,
       [](const LookupRequest& request) {
         if (request.namespace_name != "other") return std::vector<RegistryLogin>{};
         return std::vector<RegistryLogin>{{Secret("b3RoZXI6eA=="), Secret()}};
       },
       pace_,
       [this](const std::string& registry, std::string_view kind, std::string_view result) {
         reported_.push_back(registry + " " + std::string(kind) + " " + std::string(result));
       },
       clock_},
      100);
};

TEST_F(RegistryQueryTest, AnUnchangedImageNeedsNoSecondGet) {
  for (int i = 0; i < 300; ++i) EXPECT_EQ(command(), "/v1");

  EXPECT_EQ(registry_.counts().heads, 300);
  EXPECT_EQ(registry_.counts().manifests, 1);
  EXPECT_EQ(registry_.counts().configs, 1);
}

TEST_F(RegistryQueryTest, AMovedTagIsReadAgain) {
  ASSERT_EQ(command(), "/v1");
  registry_.push("r.example/a");

  EXPECT_EQ(command(), "/v2");
  EXPECT_EQ(registry_.counts().manifests, 2);
}

TEST_F(RegistryQueryTest, AnAnswerByDigestIsForEveryLoginThatHeadAccepts) {
  ASSERT_EQ(command(), "/v1");
  namespace_name_ = "other";

  EXPECT_EQ(command(), "/v1");
  EXPECT_EQ(registry_.counts().manifests, 1);

  registry_.answer_heads_with(head_answer(Kind::refused, "unauthorized"));
  EXPECT_EQ(command(), "unauthorized");
}

TEST_F(RegistryQueryTest, AnAnswerOfAnotherRepositoryIsNotUsed) {
  ASSERT_EQ(command("r.example/a:1"), "/v1");
  const std::string digest = ask("r.example/a:1")->digest;

  (void)ask("r.example/b@" + digest);  // this repository claims the digest

  EXPECT_EQ(registry_.counts("r.example/b").manifests, 1);
}

TEST_F(RegistryQueryTest, ARefusedHeadSendsNoGet) {
  registry_.answer_heads_with(head_answer(Kind::refused, "manifest unknown"));

  EXPECT_EQ(command(), "manifest unknown");
  EXPECT_EQ(registry_.counts().gets(), 0);
}

TEST_F(RegistryQueryTest, WithoutDigestsAtMost20ManifestsAreReadIn6Hours) {
  registry_.answer_heads_with(head_answer(Kind::not_offered, ""));
  for (int minute = 0; minute < 6 * 60; ++minute) {
    ASSERT_EQ(command(), "/v1");
    clock_.pass(Millis(60'000));
  }
  EXPECT_LE(registry_.counts().gets(), 20);
  EXPECT_GE(registry_.counts().gets(), 8);  // a moved tag is detected
}

TEST_F(RegistryQueryTest, AnImageThatCannotBeReadCausesAtMost20GetsIn6Hours) {
  registry_.fail_gets("the response is larger than 1 bytes");
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(ask());
  EXPECT_EQ(registry_.counts().gets(), 20);
  EXPECT_THAT(command(), HasSubstr("too often"));

  clock_.pass(6 * kHour);

  EXPECT_THAT(command(), HasSubstr("larger than"));
}

TEST_F(RegistryQueryTest, RetryAfterIsHonored) {
  registry_.answer_heads_with(head_answer(Kind::busy, "limited", kHour));
  EXPECT_EQ(command(), "limited");
  registry_.answer_heads_with(std::nullopt);

  clock_.pass(kHour - Millis(1));
  EXPECT_EQ(command("r.example/b:1"), "limited");
  EXPECT_EQ(command("s.example/b:1"), "/v1");  // another registry
  EXPECT_EQ(registry_.counts().heads, 2);
  clock_.pass(Millis(1));

  EXPECT_EQ(command(), "/v1");
}

TEST_F(RegistryQueryTest, ThePauseOfOneLoginIsNotThatOfAnother) {
  namespace_name_ = "other";
  registry_.answer_heads_with(head_answer(Kind::refused, "x"));
  (void)ask();
  pace_.failed("r.example", RegistryPace::Request::head, "limited", kHour);  // without a login
  registry_.answer_heads_with(std::nullopt);

  EXPECT_EQ(command(), "/v1");
}

TEST_F(RegistryQueryTest, AnUnavailableRegistryIsAskedLessAndLess) {
  registry_.answer_heads_with(head_answer(Kind::unavailable, "down"));
  for (int second = 0; second < 3'600; second += 5) {
    for (const char* image : {"r.example/a:1", "r.example/b:1", "r.example/c:1"})
      EXPECT_EQ(command(image), "down");
    clock_.pass(Millis(5'000));
  }
  // 10, 20, 40, 80, 160 s, then every 300 s.
  EXPECT_LE(registry_.counts().heads, 17);
  EXPECT_GE(registry_.counts().heads, 15);
}

TEST_F(RegistryQueryTest, ALimitOnGetsDoublesThePauseAlthoughHeadSucceeds) {
  ASSERT_EQ(command("r.example/cached:1"), "/v1");
  registry_.fail_gets("toomanyrequests: slow down");
  std::vector<int> at;
  for (int second = 0; second < 700; ++second) {
    const int before = registry_.counts().gets();
    // The second image needs no GET: its HEAD must not end the pause of the first one.
    (void)ask("r.example/a" + std::to_string(second) + ":1");
    (void)ask("r.example/cached:1");
    if (registry_.counts().gets() > before) at.push_back(second);
    clock_.pass(Millis(1'000));
  }
  EXPECT_THAT(at, ::testing::ElementsAre(0, 10, 30, 70, 150, 310, 610));
}

TEST_F(RegistryQueryTest, ASuccessfulGetEndsTheDoubling) {
  registry_.fail_gets("toomanyrequests: slow down");
  for (const int pause : {10, 20, 40}) {
    (void)ask();
    clock_.pass(Seconds(pause));
  }
  registry_.fail_gets("");
  ASSERT_EQ(command(), "/v1");
  registry_.fail_gets("toomanyrequests: slow down");
  (void)ask("r.example/b:1");

  clock_.pass(Seconds(10));
  registry_.fail_gets("");

  EXPECT_EQ(command("r.example/b:1"), "/v1");
}

TEST_F(RegistryQueryTest, ALimitOnGetsIsReportedAsBusy) {
  registry_.fail_gets("reading manifest 1: toomanyrequests: slow down");
  (void)ask();

  EXPECT_THAT(reported_, ::testing::ElementsAre("r.example head ok", "r.example manifest busy"));
}

TEST_F(RegistryQueryTest, ALimitOnPullsIsRespectedBeforeTheGet) {
  HeadResult found = head_answer(Kind::found, "");
  found.digest = "sha256:" + std::string(64, 'a');
  found.has_pulls_left = false;
  registry_.answer_heads_with(found);

  EXPECT_THAT(command(), HasSubstr("no more pulls"));
  EXPECT_EQ(registry_.counts().gets(), 0);
}

TEST_F(RegistryQueryTest, ContentWithAnotherDigestIsRefused) {
  HeadResult found = head_answer(Kind::found, "");
  found.digest = "sha256:" + std::string(64, 'a');
  registry_.answer_heads_with(found);

  EXPECT_THAT(command(), HasSubstr("does not have the digest"));
}

TEST_F(RegistryQueryTest, EachRequestIsReported) {
  ASSERT_TRUE(ask());
  registry_.answer_heads_with(head_answer(Kind::busy, "limited"));
  (void)ask();

  EXPECT_THAT(reported_, ::testing::ElementsAre("r.example head ok", "r.example manifest ok",
                                                "r.example config ok", "r.example head busy"));
}

}  // namespace
}  // namespace cronlatch::registry
