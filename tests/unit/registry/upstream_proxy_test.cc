// SPDX-License-Identifier: Apache-2.0
// The variables HTTPS_PROXY and NO_PROXY.
#include "registry/upstream_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool is_for(const std::string& no_proxy, const std::string& host, std::uint16_t port = 443) {
  const auto proxy = UpstreamProxy::parse("http://proxy.corp:3128", no_proxy);
  EXPECT_TRUE(proxy.ok() && proxy->has_value());
  return (*proxy)->is_for({host, port});
}

TEST(UpstreamProxy, IsAHostWithAPort) {
  EXPECT_FALSE(UpstreamProxy::parse("", "ghcr.io")->has_value());
  EXPECT_EQ((*UpstreamProxy::parse("http://Proxy.corp:3128/", ""))->peer(),
            (image::Peer{"proxy.corp", 3128}));
  EXPECT_EQ((*UpstreamProxy::parse("proxy.corp:3128", ""))->peer().port, 3128);
  EXPECT_EQ((*UpstreamProxy::parse("http://proxy.corp", ""))->peer().port, 80);
  for (const char* text : {"https://proxy.corp:3128", "socks5://proxy.corp", "http://", "a b"})
    EXPECT_FALSE(UpstreamProxy::parse(text, "").ok()) << text;
}

TEST(UpstreamProxy, WithALoginIsRefusedWithoutShowingIt) {
  const auto proxy = UpstreamProxy::parse("http://me:s3cret@proxy.corp:3128", "");
  ASSERT_FALSE(proxy.ok());
  EXPECT_THAT(proxy.error().message, HasSubstr("login"));
  EXPECT_THAT(proxy.error().message + proxy.error().hint, Not(HasSubstr("s3cret")));
}

TEST(UpstreamProxy, IsNotForTheHostsOfNoProxy) {
  EXPECT_TRUE(is_for("", "ghcr.io"));
  EXPECT_FALSE(is_for("*", "ghcr.io"));
  EXPECT_FALSE(is_for("quay.io, GHCR.io", "ghcr.io"));
  EXPECT_FALSE(is_for("corp", "registry.corp"));
  EXPECT_TRUE(is_for("corp", "registrycorp"));
  EXPECT_FALSE(is_for(".corp", "registry.corp"));
  EXPECT_TRUE(is_for(".corp", "corp"));
  EXPECT_FALSE(is_for("*.corp", "registry.corp"));
  EXPECT_FALSE(is_for("registry.corp:5000", "registry.corp", 5000));
  EXPECT_TRUE(is_for("registry.corp:5000", "registry.corp", 443));
}

TEST(UpstreamProxy, IsNotForTheNetworksOfNoProxy) {
  EXPECT_FALSE(is_for("10.0.0.0/8", "10.1.2.3"));
  EXPECT_TRUE(is_for("10.0.0.0/8", "11.1.2.3"));
  EXPECT_FALSE(is_for("10.1.2.3", "10.1.2.3"));
  EXPECT_FALSE(is_for("fd00::/8", "fd12::1"));
  EXPECT_TRUE(is_for("fd00::/8", "2001::1"));
  EXPECT_TRUE(is_for("10.0.0.0/x,10.0.0.0/99,/8,::/200", "10.1.2.3"));
}

}  // namespace
}  // namespace cronlatch::registry
