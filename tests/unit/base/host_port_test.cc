// SPDX-License-Identifier: Apache-2.0
#include "base/host_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch {
namespace {

using ::testing::HasSubstr;

HostPort parsed(std::string_view text) {
  const auto result = parse_host_port(text);
  EXPECT_TRUE(result.ok()) << text << ": " << (result ? "" : result.error().message);
  return result ? *result : HostPort{};
}

std::string refusal(std::string_view text) {
  const auto result = parse_host_port(text);
  return result ? "accepted" : result.error().message;
}

TEST(HostPort, ReadsNamesAndAddresses) {
  EXPECT_EQ(parsed("redis.example.com").host, "redis.example.com");
  EXPECT_EQ(parsed("redis.example.com").port, std::nullopt);
  EXPECT_EQ(parsed("redis_1.Example.:6379").host, "redis_1.Example.");
  EXPECT_EQ(parsed("10.0.0.1:65535").port, 65'535);
}

TEST(HostPort, ReadsIpv6InBrackets) {
  EXPECT_EQ(parsed("[fd00::1]").host, "fd00::1");
  EXPECT_EQ(parsed("[fd00::1]").port, std::nullopt);
  EXPECT_EQ(parsed("[::ffff:10.0.0.1]:7000").host, "::ffff:10.0.0.1");
  EXPECT_EQ(parsed("[::1]:7000").port, 7'000);
}

TEST(HostPort, NamesTheWrongPart) {
  EXPECT_THAT(refusal(""), HasSubstr("host is missing"));
  EXPECT_THAT(refusal(":80"), HasSubstr("host is missing"));
  for (const std::string_view port : {"h:", "h:0", "h:65536", "h:80x", "h:-1", "h: 80", "[::1]:"})
    EXPECT_THAT(refusal(port), HasSubstr("port must be")) << port;
  EXPECT_THAT(refusal("fd00::1"), HasSubstr("in brackets"));
  EXPECT_THAT(refusal("a:1:2"), HasSubstr("in brackets"));
  EXPECT_THAT(refusal("[fd00::1"), HasSubstr("']'"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not an IPv6"));
  EXPECT_THAT(refusal("[10.0.0.1]"), HasSubstr("not an IPv6"));
  EXPECT_THAT(refusal(std::string_view("[::1\0]", 6)), HasSubstr("not an IPv6"));
  EXPECT_THAT(refusal("[::1]6379"), HasSubstr("only :port"));
  for (const std::string_view host : {"a b", "a/b", "h\r\n", ".h", "a..b", "h\x7f", "\xc3\xa9"})
    EXPECT_THAT(refusal(host), HasSubstr("character")) << host;
  EXPECT_EQ(parsed(std::string(254, 'h')).host.size(), 254U);
  EXPECT_THAT(refusal(std::string(255, 'h')), HasSubstr("host name"));
}

TEST(HostPort, HasPort0OnlyWhereTheServerChoosesAFreeOne) {
  const auto any = parse_host_port("[::]:0", 0);
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(any->port, 0);
  EXPECT_THAT(parse_host_port("[::]:x", 0).error().message, HasSubstr("0 to 65535"));
  EXPECT_THAT(refusal("[::]:0"), HasSubstr("1 to 65535"));
}

TEST(HostPort, IsShownWithBracketsForIpv6Only) {
  EXPECT_EQ(show_host("gw.example"), "gw.example");
  EXPECT_EQ(show_host("fd00::1"), "[fd00::1]");
  EXPECT_EQ(show_host_port("gw.example", 80), "gw.example:80");
  EXPECT_EQ(show_host_port("fd00::1", 9'091), "[fd00::1]:9091");
}

}  // namespace
}  // namespace cronlatch
