// SPDX-License-Identifier: Apache-2.0
// Lookups through the HTTP proxy of a platform: a real tinyproxy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "support/https_server.h"
#include "support/tiny_proxy.h"

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace cronlatch::testing;
using Kind = LookupResult::Kind;

class LookupThroughAProxy : public RealRegistry {
 protected:
  LookupThroughAProxy() { registry_.push("a:1", {R"({"Cmd":["x"]})"}); }
  Client::Config config_with(const TinyProxy& proxy, const std::string& no_proxy = "") const {
    Client::Config config = config_for(registry_);
    config.https_proxy = proxy.url();
    config.no_proxy = no_proxy;
    return config;
  }
  std::string image() const { return registry_.name() + "/a:1"; }
  RegistryServer registry_{certificates_};
};

TEST_F(LookupThroughAProxy, SendsHeadAndReadsTheImageThroughIt) {
  const TinyProxy proxy;
  Client client(config_with(proxy));

  EXPECT_EQ(cmd(client.find(image())), Words{"x"});

  // HEAD, and skopeo for the manifest and for the config.
  EXPECT_TRUE(eventually([&] { return proxy.tunnels(registry_.name()) >= 3; })) << proxy.log();
}

TEST_F(LookupThroughAProxy, ConnectsDirectlyToTheHostsOfNoProxy) {
  const TinyProxy proxy;
  Client client(config_with(proxy, "ghcr.io,.test"));

  EXPECT_EQ(cmd(client.find(image())), Words{"x"});

  EXPECT_EQ(proxy.tunnels(registry_.name()), 0) << proxy.log();
}

TEST_F(LookupThroughAProxy, FailsIfTheProxyRefuses) {
  const TinyProxy proxy("ConnectPort 1\n");
  Client client(config_with(proxy));

  const LookupResult result = client.find(image());

  EXPECT_EQ(result.kind, Kind::failed);
  EXPECT_THAT(result.error, HasSubstr("the proxy of HTTPS_PROXY opened no tunnel"));
}

TEST_F(LookupThroughAProxy, StillChecksEveryHost) {
  const TinyProxy proxy;
  HttpsServer redirecting(
      certificates_.good(), [](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
        if (request.target == "/v2/") return peer.answer(200, "{}");
        peer.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://canary.test" +
                   request.target + "\r\nContent-Length: 0\r\n\r\n");
      });
  const std::string name = "registry.test:" + std::to_string(redirecting.port());
  Client::Config config = config_with(proxy);
  config.registries = {name};
  Client client(config);

  EXPECT_EQ(client.find(name + "/a:1").kind, Kind::failed);

  EXPECT_GT(proxy.tunnels(name), 0);
  EXPECT_EQ(proxy.tunnels("canary.test"), 0) << proxy.log();
}

}  // namespace
}  // namespace cronlatch::registry
