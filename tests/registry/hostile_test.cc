// SPDX-License-Identifier: Apache-2.0
// Hostile registries: invalid documents, slow responses, and redirects to hosts that are not
// allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "client.h"
#include "support/digest.h"
#include "support/https_server.h"

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using namespace cronlatch::testing;
using Kind = LookupResult::Kind;

std::string name_of(const HttpsServer& server) {
  return "registry.test:" + std::to_string(server.port());
}

// Serves one image with a manifest and a config from the test. `before` may answer a request first.
class HostileRegistry {
 public:
  using Before = std::function<bool(const HttpsServer::Request&, HttpsServer::Peer&)>;
  explicit HostileRegistry(const Certificates& certificates, std::string manifest_more = "",
                           std::string config_more = "", Before before = {})
      : config_(R"({"architecture":"amd64","os":"linux","config":{"Cmd":["x"]},)"
                R"("rootfs":{"type":"layers","diff_ids":[]})" +
                config_more + "}"),
        manifest_(R"({"schemaVersion":2,"mediaType":")" + std::string(kManifest) +
                  R"(","layers":[],"config":{"mediaType":)"
                  R"("application/vnd.oci.image.config.v1+json","digest":"sha256:)" +
                  sha256(config_) + R"(","size":)" + std::to_string(config_.size()) + "}" +
                  manifest_more + "}"),
        before_(std::move(before)),
        server_(certificates.good(),
                [this](const auto& request, HttpsServer::Peer& peer) { answer(request, peer); }) {}
  std::string image() const { return "registry.test:" + std::to_string(server_.port()) + "/a:1"; }
  std::string name() const { return "registry.test:" + std::to_string(server_.port()); }

 private:
  static constexpr char kManifest[] = "application/vnd.oci.image.manifest.v1+json";
  void answer(const HttpsServer::Request& request, HttpsServer::Peer& peer) const {
    if (before_ && before_(request, peer)) return;
    if (request.target.find("/manifests/") != std::string::npos) return send(peer, manifest_);
    if (request.target.find("/blobs/") != std::string::npos) return send(peer, config_);
    peer.answer(200, "{}");
  }
  static void send(HttpsServer::Peer& peer, const std::string& bytes) {
    peer.write("HTTP/1.1 200 OK\r\nContent-Type: " + std::string(kManifest) +
               "\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes);
  }
  const std::string config_, manifest_;
  const Before before_;
  HttpsServer server_;
};

TEST_F(RealRegistry, ASlowResponseTimesOut) {
  for (const char* slow : {"/v2/", "/manifests/", "/blobs/"}) {
    HostileRegistry hostile(certificates_, "", "",
                            [&](const auto& request, HttpsServer::Peer& peer) {
                              if (request.target.find(slow) == std::string::npos) return false;
                              peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
                              while (peer.pause(std::chrono::seconds(1))) peer.write("x");
                              return true;
                            });
    Client client(
        {.registries = {hostile.name()}, .ca = certificates_.ca(), .timeout = Millis(2'000)});

    const LookupResult result = client.find(hostile.image());

    EXPECT_EQ(result.kind, Kind::failed) << slow;
    EXPECT_THAT(result.error, HasSubstr("timed out")) << slow;
    EXPECT_TRUE(client.has_no_temporary_files());
  }
}

std::string nested(std::size_t levels) {
  return R"(,"x":)" + std::string(levels, '[') + std::string(levels, ']');
}

TEST_F(RealRegistry, ADeeplyNestedResponseIsRefused) {
  struct Case {
    std::string manifest, config;
    Kind kind;
    const char* why;
  };
  const Case cases[] = {{nested(20), nested(20), Kind::known, ""},
                        {nested(200), "", Kind::failed, "nested deeper"},
                        {nested(100'000), "", Kind::failed, ""},
                        {"", nested(100'000), Kind::failed, ""}};
  for (const Case& one : cases) {
    HostileRegistry hostile(certificates_, one.manifest, one.config);
    Client client({.registries = {hostile.name()}, .ca = certificates_.ca()});

    const LookupResult result = client.find(hostile.image());

    EXPECT_EQ(result.kind, one.kind) << result.error;
    EXPECT_THAT(result.error, HasSubstr(one.why));
  }
}

// Targets of a realm or a redirect to which no connection may be opened.
std::vector<std::string> canaries(int port) {
  const std::string at = ":" + std::to_string(port);
  return {"https://canary.test" + at,
          "http://canary.test" + at,
          "https://127.0.0.1" + at,
          "http://127.0.0.1" + at,
          "https://localhost" + at,
          "http://localhost" + at,
          "https://rebound.example.com" + at,
          "https://[::1]" + at,
          "https://127.0.0.2" + at};
}

// Go's client does not use its proxy for these; only Landlock prevents the connection (Linux 6.7).
bool needs_confinement(const std::string& where) {
  return where.find("//127.") != std::string::npos || where.find("//[::1]") != std::string::npos ||
         where.find("//localhost") != std::string::npos;
}
bool kernel_confines() {
  bool confines = false;
  std::thread([&] { confines = confine_thread_to_ports({1}); }).join();
  return confines;
}
// Without the targets that this kernel cannot block; the test is then reported as skipped.
std::vector<std::string> blockable_canaries(int port) {
  std::vector<std::string> all = canaries(port);
  if (!kernel_confines()) std::erase_if(all, needs_confinement);
  return all;
}
constexpr char kNotConfined[] =
    "this kernel cannot block connections to loopback (Landlock, Linux 6.7); the other targets "
    "passed";

TEST_F(RealRegistry, ARealmOnAHostThatIsNotAllowedIsNotContacted) {
  HttpsServer canary(certificates_.good(), [](const auto&, HttpsServer::Peer& peer) {
    peer.answer(200, R"({"token":"x"})");
  });
  // Of HEAD, which the operator sends itself, and of GET by skopeo.
  for (const char* const method : {"HEAD", "GET"})
    for (const std::string& where : blockable_canaries(canary.port())) {
      std::atomic<int> refused{0};
      HttpsServer server(
          certificates_.good(), [&](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
            if (request.method != method) return peer.answer(200, "{}");
            ++refused;
            peer.write("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"" + where +
                       "/token\",service=\"x\"\r\nContent-Length: 0\r\n\r\n");
          });
      Client client({.registries = {name_of(server)}, .ca = certificates_.ca()});

      EXPECT_EQ(client.find(name_of(server) + "/a:1").kind, Kind::failed) << where;
      EXPECT_GT(refused, 0) << method;
      EXPECT_EQ(canary.connections(), 0) << method << " " << where;
    }
  if (!kernel_confines()) GTEST_SKIP() << kNotConfined;
}

TEST_F(RealRegistry, ARedirectToAHostThatIsNotAllowedIsNotFollowed) {
  HttpsServer canary(certificates_.good(),
                     [](const auto&, HttpsServer::Peer& peer) { peer.answer(200, "{}"); });
  for (const std::string& where : blockable_canaries(canary.port())) {
    HttpsServer server(certificates_.good(),
                       [&](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
                         if (request.target == "/v2/") return peer.answer(200, "{}");
                         peer.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: " + where +
                                    request.target + "\r\nContent-Length: 0\r\n\r\n");
                       });
    Client client({.registries = {name_of(server)}, .ca = certificates_.ca()});

    EXPECT_EQ(client.find(name_of(server) + "/a:1").kind, Kind::failed) << where;
    EXPECT_EQ(canary.connections(), 0) << where;
  }
  if (!kernel_confines()) GTEST_SKIP() << kNotConfined;
}

TEST_F(RealRegistry, ARedirectToAListedHostIsFollowed) {
  HttpsServer second(certificates_.good(), [](const HttpsServer::Request&,
                                              HttpsServer::Peer& peer) { peer.answer(404, "{}"); });
  HttpsServer server(
      certificates_.good(), [&](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
        if (request.target == "/v2/") return peer.answer(200, "{}");
        peer.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://redis.test:" +
                   std::to_string(second.port()) + "/\r\nContent-Length: 0\r\n\r\n");
      });
  Client client({.registries = {name_of(server), "redis.test:" + std::to_string(second.port())},
                 .ca = certificates_.ca()});

  EXPECT_EQ(client.find(name_of(server) + "/a:1").kind, Kind::failed);
  EXPECT_GT(second.connections(), 0);
}

TEST_F(RealRegistry, ARedirectToANameWithAPrivateAddressIsRefused) {
  HttpsServer server(certificates_.good(),
                     [&](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
                       if (request.target == "/v2/") return peer.answer(200, "{}");
                       peer.write(
                           "HTTP/1.1 307 Temporary Redirect\r\nLocation: "
                           "https://rebound.example.com/\r\nContent-Length: 0\r\n\r\n");
                     });
  Client client({.registries = {name_of(server)}, .ca = certificates_.ca()});

  EXPECT_EQ(client.find(name_of(server) + "/a:1").kind, Kind::failed);
  EXPECT_THAT(client.log(), HasSubstr("resolves to an address that is not public"));
}

}  // namespace
}  // namespace cronlatch::registry
