// SPDX-License-Identifier: Apache-2.0
// The request of a push and the answers to it, as text; URLs and groups.
#include "cli/metrics_push.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using testing::HasSubstr;

TEST(PushUrl, IsTakenApart) {
  EXPECT_EQ(parse_push_url("http://gw")->where(), "gw:80");
  EXPECT_EQ(parse_push_url("https://gw.example.")->where(), "gw.example.:443");
  EXPECT_EQ(parse_push_url("http://[fd00::1]:9091/push/")->where(), "[fd00::1]:9091");
  EXPECT_EQ(parse_push_url("http://[fd00::1]:9091/push/")->path, "/push");
}

TEST(PushUrl, RefusesInvalidTextWithoutRepeatingAPassword) {
  for (const std::string_view bad :
       {"", "gw:9091", "ftp://gw", "http://", "http://:9091", "http://gw:0", "http://gw:x",
        "http://gw:70000", "http://gw/a?b", "http://gw/metrics", "http://gw/metrics/job/x",
        "http://[fd00::1", "http://g w", "http://gw\r\nX: y", "http://[::1]x"})
    EXPECT_FALSE(check_push_url(bad)) << bad;
  const Status secret = check_push_url("http://me:hunter2@gw");
  ASSERT_FALSE(secret);
  EXPECT_THAT(secret.error().message + secret.error().hint, testing::Not(HasSubstr("hunter2")));
}

TEST(PushGroups, AreOfTheLockWithASharedStoreAndOfThisHostOtherwise) {
  const auto shared =
      pushes_of("statistics\n", "errors\n", "a/b", "web-1", LockStatsScope::shared_store);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].group, (PushGroup{{"job", "cronlatch"}, {"lock", "a/b"}}));
  EXPECT_EQ(shared[1].group,
            (PushGroup{{"job", "cronlatch"}, {"instance", "web-1"}, {"lock", "a/b"}}));
  const auto own = pushes_of("statistics\n", "errors\n", "a/b", "web-1", LockStatsScope::this_host);
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].text, "statistics\nerrors\n");
  EXPECT_TRUE(pushes_of("", "", "a/b", "web-1", LockStatsScope::shared_store).empty());
}

TEST(PushRequest, EncodesValuesThatAPathCannotContain) {
  const PushUrl url = parse_push_url("http://gw:9091/x").value();
  const auto path = [&](const std::string& lock) {
    return push_path(url, {{"job", "cronlatch"}, {"lock", lock}});
  };
  EXPECT_EQ(path("nightly_1"), "/x/metrics/job/cronlatch/lock/nightly_1");
  EXPECT_EQ(path("shop/a"), "/x/metrics/job/cronlatch/lock@base64/c2hvcC9h");
  EXPECT_EQ(path(".."), "/x/metrics/job/cronlatch/lock@base64/Li4");
  EXPECT_EQ(path("ab?"), "/x/metrics/job/cronlatch/lock@base64/YWI_");
  // A Pushgateway that kept such a label could not show any: U+FFFD instead.
  EXPECT_EQ(path("\xff"), path("\xEF\xBF\xBD"));
}

TEST(PushRequest, ContainsItsLength) {
  const std::string request =
      push_request(parse_push_url("http://gw").value(), {{{"job", "cronlatch"}}, "text\n"});
  EXPECT_THAT(request, HasSubstr("POST /metrics/job/cronlatch HTTP/1.1\r\nHost: gw:80\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_TRUE(request.ends_with("\r\n\r\ntext\n"));
}

TEST(PushAnswer, IsSuccessAnErrorOrIncomplete) {
  EXPECT_EQ(parse_push_response("HTTP/1.1 20"), std::nullopt);
  EXPECT_TRUE(parse_push_response("HTTP/1.1 200 OK\r\n").value());
  EXPECT_TRUE(parse_push_response("HTTP/1.1 202 Accepted\r\n\r\n").value());
  EXPECT_EQ(parse_push_response("HTTP/1.1 400 Bad Request\r\nX: y\r\n\r\nhalf a li"), std::nullopt);
  const auto refused = parse_push_response("HTTP/1.1 400 Bad Request\r\n\r\nbad\x1b metric\n");
  EXPECT_THAT(refused->error().message, HasSubstr("400 Bad Request: bad\\x1b metric"));
  EXPECT_FALSE(parse_push_response("-ERR unknown command\r\n").value());
  EXPECT_FALSE(parse_push_response("SSH-2.0").value());
  EXPECT_FALSE(parse_push_response("HTTP/1.1 abc\r\n").value());
}

}  // namespace
}  // namespace cronlatch
