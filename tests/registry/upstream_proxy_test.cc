// SPDX-License-Identifier: Apache-2.0
// Lookups through the HTTP proxy of a platform: a real tinyproxy.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>

#include "base/fd.h"
#include "client.h"
#include "support/https_server.h"

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace cronlatch::testing;
using Kind = LookupResult::Kind;

// On a free port of loopback. The kernel kills it when the test ends.
class TinyProxy {
 public:
  explicit TinyProxy(const std::string& more = "") {
    for (int tries = 0; tries < 5 && !is_open(); ++tries) {
      port_ = free_port();
      std::ofstream(dir_.path("conf"))
          << "Listen 127.0.0.1\nAllow 127.0.0.1\nPort " << port_ << "\nLogFile \""
          << dir_.path("log") << "\"\nLogLevel Info\n"
          << more;
      program_ = std::make_unique<Program>(
          ProgramSpec{.argv = {"/usr/bin/tinyproxy", "-d", "-c", dir_.path("conf")},
                      .env = {"PATH=/usr/bin:/bin"}});
      eventually([&] { return is_open() || !is_alive(program_->pid()); });
    }
    EXPECT_TRUE(is_open()) << log();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string log() const { return read_file(dir_.path("log")); }

 private:
  static int free_port() {
    const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd.get(), generic, size), 0);
    EXPECT_EQ(::getsockname(fd.get(), generic, &size), 0);
    return ntohs(address.sin_port);
  }
  bool is_open() const { return log().find("Accepting connections") != std::string::npos; }

  ScratchDir dir_;
  int port_ = 0;
  std::unique_ptr<Program> program_;
};

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

// The number of tunnels to this host that the proxy has logged.
int tunnels(const TinyProxy& proxy, const std::string& host) {
  const std::string log = proxy.log();
  int count = 0;
  for (std::size_t at = log.find("CONNECT " + host); at != std::string::npos;
       at = log.find("CONNECT " + host, at + 1))
    ++count;
  return count;
}

TEST_F(LookupThroughAProxy, SendsHeadAndReadsTheImageThroughIt) {
  const TinyProxy proxy;
  Client client(config_with(proxy));

  EXPECT_EQ(cmd(client.find(image())), Words{"x"});

  // HEAD, and skopeo for the manifest and for the config.
  EXPECT_TRUE(eventually([&] { return tunnels(proxy, registry_.name()) >= 3; })) << proxy.log();
}

TEST_F(LookupThroughAProxy, ConnectsDirectlyToTheHostsOfNoProxy) {
  const TinyProxy proxy;
  Client client(config_with(proxy, "ghcr.io,.test"));

  EXPECT_EQ(cmd(client.find(image())), Words{"x"});

  EXPECT_EQ(tunnels(proxy, registry_.name()), 0) << proxy.log();
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

  EXPECT_GT(tunnels(proxy, name), 0);
  EXPECT_EQ(tunnels(proxy, "canary.test"), 0) << proxy.log();
}

}  // namespace
}  // namespace cronlatch::registry
