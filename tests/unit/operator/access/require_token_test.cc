// SPDX-License-Identifier: Apache-2.0
#include "operator/access/require_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "labels/status_token.h"
#include "reviewer.h"
#include "support/hand_clock.h"

namespace cronlatch::op {
namespace {

using ::testing::HasSubstr;

class RequireToken : public ::testing::Test {
 protected:
  HttpResponse ask(TokenPlace place, const HttpRequest& request) {
    return require_token(control_, place,
                         [](const HttpRequest&) { return HttpResponse{.body = "page"}; })(request);
  }
  HttpResponse in_header(const std::string& token) {
    return ask(TokenPlace::header, {.method = "GET",
                                    .path = "/metrics",
                                    .content_type = "",
                                    .body = "",
                                    .bearer = Secret(token)});
  }
  HttpResponse in_body(const std::string& body, const std::string& header = "") {
    return ask(TokenPlace::body, {.method = "POST",
                                  .path = "/status",
                                  .content_type = "",
                                  .body = body,
                                  .bearer = Secret(header)});
  }

  testing::Reviewer api_;
  testing::HandClock clock_;
  Log log_{LogFormat::json, Level::info, clock_, [](std::string_view) {}};
  AccessControl control_{api_, clock_, log_};
};

TEST_F(RequireToken, ReturnsThePageToAnAllowedToken) {
  EXPECT_EQ(in_header("good").status, 200);
  EXPECT_EQ(in_header("good").body, "page");
}

TEST_F(RequireToken, RequestsATokenWithoutAValidOne) {
  for (const char* const token : {"", "bad"}) {
    const HttpResponse response = in_header(token);
    EXPECT_EQ(response.status, 401) << token;
    EXPECT_EQ(response.authenticate, "Bearer");
  }
}

TEST_F(RequireToken, NamesTheUserWithoutTheRight) {
  api_.rights.clear();
  const HttpResponse response = in_header("good");
  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.body, HasSubstr("prometheus has no right"));
}

TEST_F(RequireToken, RefusesWhileTheAccessIsNotKnown) {
  api_.status_of_failures = 0;
  EXPECT_EQ(in_header("good").status, 503);
}

TEST_F(RequireToken, ReadsATokenOfItsOwnAudienceFromTheBody) {
  api_.rights["prometheus"] = {"/status"};
  EXPECT_EQ(in_body(R"({"token":"good"})").status, 401) << "a token for the API server";
  api_.audience = kStatusAudience;
  clock_.pass(Seconds(10));
  EXPECT_EQ(in_body(R"({"token":"good"})").status, 200);
  for (const char* const body : {"", "good", "{", "[]", R"({"token":1})", R"({"token":""})"})
    EXPECT_EQ(in_body(body, "good").status, 401) << body << ": the header is not read";
}

}  // namespace
}  // namespace cronlatch::op
