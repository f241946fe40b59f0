// SPDX-License-Identifier: Apache-2.0
// The whole way from an image's name to its command, with the real client and a real registry; and
// registries that lie, drip, or point to where nobody may go.
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
using ::testing::Not;
using namespace cronlatch::testing;
using Kind = Told::Kind;

TEST_F(RealRegistry, TellsEntrypointAndCmdOfEverySchema) {
  RegistryServer registry(certificates_);
  for (const char* format : {"oci", "v2s2", "v2s1"})
    registry.push(std::string("team/") + format + ":1",
                  {R"({"Entrypoint":["/e","$HOME"],"Cmd":["a b"]})"}, format);
  Client client(wish(registry));

  for (const char* format : {"oci", "v2s2", "v2s1"}) {
    const Told told = client.find(registry.name() + "/team/" + format + ":1");
    EXPECT_EQ(entrypoint(told), (Words{"/e", "$HOME"})) << format;
    EXPECT_EQ(cmd(told), Words{"a b"}) << format;
    EXPECT_EQ(told.looked.digest.empty(), std::string(format) == "v2s1");
  }
  EXPECT_TRUE(client.left_nothing());
}

TEST_F(RealRegistry, AnswersByDigestWhatItsTagStandsFor) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["one"]})"});
  Client client(wish(registry));
  const Told tagged = client.find(registry.name() + "/a:1");
  ASSERT_EQ(tagged.kind, Kind::known) << tagged.why;
  registry.push("a:1", {R"({"Cmd":["two"]})"});

  const Told pinned = client.find(registry.name() + "/a@" + tagged.looked.digest);
  Client later(wish(registry));

  EXPECT_EQ(cmd(pinned), Words{"one"});
  EXPECT_EQ(cmd(later.find(registry.name() + "/a:1")), Words{"two"});
}

TEST_F(RealRegistry, IsLookedAtAgainForATagThatMayHaveMovedButNotForADigest) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["one"]})"});
  Client::Wish wished = wish(registry);
  wished.tag_recheck = Millis(1);
  Client client(wished);
  const std::string tag = registry.name() + "/a:1";
  const Told first = client.find(tag);
  ASSERT_EQ(cmd(first), Words{"one"});
  const std::string digest = registry.name() + "/a@" + first.looked.digest;
  ASSERT_EQ(cmd(client.find(digest)), Words{"one"});

  registry.push("a:1", {R"({"Cmd":["two"]})"});

  EXPECT_TRUE(eventually([&] { return cmd(client.find(tag)) == Words{"two"}; }));
  EXPECT_NE(client.find(tag).looked.digest, first.looked.digest);
  EXPECT_EQ(cmd(client.find(digest)), Words{"one"});
}

TEST_F(RealRegistry, TellsEachPlatformItsOwn) {
  RegistryServer registry(certificates_);
  registry.push_index(
      "a:1", {{R"({"Entrypoint":["/amd"]})", "amd64"}, {R"({"Entrypoint":["/arm"]})", "arm64"}});
  Client client(wish(registry));

  const Told both = client.find(registry.name() + "/a:1", {"amd64", "arm64"});
  EXPECT_EQ(entrypoint(both, 0), Words{"/amd"});
  EXPECT_EQ(entrypoint(both, 1), Words{"/arm"});
  EXPECT_EQ(entrypoint(client.find(registry.name() + "/a:1", {"arm64"})), Words{"/arm"});
  const Told none = client.find(registry.name() + "/a:1", {"s390x"});
  EXPECT_EQ(none.kind, Kind::failed);
  EXPECT_THAT(none.why, HasSubstr("nothing for linux on s390x"));
}

TEST_F(RealRegistry, OpensToTheRightLoginOnlyAndNobodySeesIt) {
  RegistryServer registry(certificates_, RegistryServer::Door::login);
  registry.push("a:1", {R"({"Cmd":["private"]})"});
  const auto with = [&](const std::string& logins) {
    Client::Wish wished = wish(registry);
    wished.docker_config = R"({"auths":{)" + logins + "}}";
    return wished;
  };
  const std::string wrong =
      '"' + registry.name() + R"(/a":{"username":"cron","password":"geheim-und-falsch"})";
  const std::string right = '"' + registry.name() + R"(":{"username":"cron","password":"wonder"})";

  EXPECT_EQ(cmd(Client(with(right)).find(registry.name() + "/a:1")), Words{"private"});
  EXPECT_EQ(cmd(Client(with(wrong + "," + right)).find(registry.name() + "/a:1")),
            Words{"private"});
  for (const std::string& logins : {wrong, std::string()}) {
    Client client(with(logins));
    const Told told = client.find(registry.name() + "/a:1");
    EXPECT_EQ(told.kind, Kind::failed);
    EXPECT_THAT(told.why, HasSubstr("auth"));
    EXPECT_THAT(told.why + client.log(), Not(HasSubstr("geheim")));
    EXPECT_TRUE(client.left_nothing());
  }
}

TEST_F(RealRegistry, SaysThatATagIsAbsentAndThatItIsDown) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["x"]})"});
  Client client(wish(registry));

  const Told absent = client.find(registry.name() + "/a:2");
  ASSERT_EQ(client.find(registry.name() + "/a:1").kind, Kind::known);
  registry.stop();
  const Told down = client.find(registry.name() + "/b:1");

  EXPECT_EQ(absent.kind, Kind::failed);
  EXPECT_THAT(absent.why, HasSubstr("manifest unknown"));
  EXPECT_EQ(down.kind, Kind::failed);
  EXPECT_EQ(client.find(registry.name() + "/a:1").kind, Kind::known);
}

TEST_F(RealRegistry, IsNotTrustedWithoutItsAuthority) {
  RegistryServer registry(certificates_);
  registry.push("a:1", {R"({"Cmd":["x"]})"});
  Client::Wish wished = wish(registry);
  wished.ca = certificates_.other_ca();
  Client client(wished);

  const Told told = client.find(registry.name() + "/a:1");

  EXPECT_EQ(told.kind, Kind::failed);
  EXPECT_THAT(told.why, HasSubstr("x509"));
}

TEST_F(RealRegistry, AnswersAHundredQuestionsAtOnce) {
  RegistryServer registry(certificates_);
  for (const char* tag : {"a:1", "a:2", "a:3", "a:4", "a:5"})
    registry.push(tag, {std::string(R"({"Cmd":[")") + tag + R"("]})"});
  Client client(wish(registry));
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 100; ++i)
      threads.emplace_back([&, tag = "a:" + std::to_string(i % 5 + 1)] {
        if (cmd(client.find(registry.name() + "/" + tag)) == Words{tag}) ++right;
      });
  }
  EXPECT_EQ(right, 100);
}

TEST_F(RealRegistry, IsRefusedAConfigBeyondAllBounds) {
  RegistryServer registry(certificates_);
  registry.push("huge:1",
                {R"({"Cmd":["x"],"Labels":{"a":")" + std::string(3'000'000, 'x') + R"("}})"});
  registry.push("long:1", {R"({"Cmd":[")" + std::string(100'000, 'x') + R"("]})"});
  Client client(wish(registry));

  EXPECT_THAT(client.find(registry.name() + "/huge:1").why, HasSubstr("longer than it may be"));
  EXPECT_THAT(client.find(registry.name() + "/long:1").why, HasSubstr("very long Cmd"));
}

// ---- registries that mean harm ----

std::string evil(const HttpsServer& server) {
  return "registry.test:" + std::to_string(server.port());
}

// An image whose manifest and configuration the test writes; what `before` answers is not asked of
// it.
class Liar {
 public:
  using Before = std::function<bool(const HttpsServer::Request&, HttpsServer::Peer&)>;
  explicit Liar(const Certificates& certificates, std::string manifest_more = "",
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

TEST_F(RealRegistry, ThatSendsAByteASecondIsGivenUpAtTheDeadline) {
  for (const char* slow : {"/v2/", "/manifests/", "/blobs/"}) {
    Liar liar(certificates_, "", "", [&](const auto& request, HttpsServer::Peer& peer) {
      if (request.target.find(slow) == std::string::npos) return false;
      peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
      while (peer.pause(std::chrono::seconds(1))) peer.write("x");
      return true;
    });
    Client client(
        {.registries = {liar.name()}, .ca = certificates_.ca(), .timeout = Millis(2'000)});

    const Told told = client.find(liar.image());

    EXPECT_EQ(told.kind, Kind::failed) << slow;
    EXPECT_THAT(told.why, HasSubstr("longer than it may")) << slow;
    EXPECT_TRUE(client.left_nothing());
  }
}

std::string nested(std::size_t levels) {
  return R"(,"x":)" + std::string(levels, '[') + std::string(levels, ']');
}

TEST_F(RealRegistry, WithADeepAnswerIsRefused) {
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
    Liar liar(certificates_, one.manifest, one.config);
    Client client({.registries = {liar.name()}, .ca = certificates_.ca()});

    const Told told = client.find(liar.image());

    EXPECT_EQ(told.kind, one.kind) << told.why;
    EXPECT_THAT(told.why, HasSubstr(one.why));
  }
}

// Where a login's realm or a redirect may point, and nobody must ever come.
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

TEST_F(RealRegistry, WhoseRealmIsElsewhereLeadsNowhere) {
  HttpsServer canary(certificates_.good(), [](const auto&, HttpsServer::Peer& peer) {
    peer.answer(200, R"({"token":"x"})");
  });
  for (const std::string& where : canaries(canary.port())) {
    HttpsServer server(certificates_.good(), [&](const auto&, HttpsServer::Peer& peer) {
      peer.write("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"" + where +
                 "/token\",service=\"x\"\r\nContent-Length: 0\r\n\r\n");
    });
    Client client({.registries = {evil(server)}, .ca = certificates_.ca()});

    EXPECT_EQ(client.find(evil(server) + "/a:1").kind, Kind::failed) << where;
    ASSERT_TRUE(client.confined()) << "this kernel cannot confine the client (Landlock, Linux 6.7)";
    EXPECT_EQ(canary.connections(), 0) << where;
  }
}

TEST_F(RealRegistry, ThatRedirectsElsewhereLeadsNowhere) {
  HttpsServer canary(certificates_.good(),
                     [](const auto&, HttpsServer::Peer& peer) { peer.answer(200, "{}"); });
  for (const std::string& where : canaries(canary.port())) {
    HttpsServer server(certificates_.good(),
                       [&](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
                         if (request.target == "/v2/") return peer.answer(200, "{}");
                         peer.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: " + where +
                                    request.target + "\r\nContent-Length: 0\r\n\r\n");
                       });
    Client client({.registries = {evil(server)}, .ca = certificates_.ca()});

    EXPECT_EQ(client.find(evil(server) + "/a:1").kind, Kind::failed) << where;
    EXPECT_EQ(canary.connections(), 0) << where;
  }
}

TEST_F(RealRegistry, MayPointToAListedHost) {
  HttpsServer second(certificates_.good(), [](const HttpsServer::Request&,
                                              HttpsServer::Peer& peer) { peer.answer(404, "{}"); });
  HttpsServer server(
      certificates_.good(), [&](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
        if (request.target == "/v2/") return peer.answer(200, "{}");
        peer.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://redis.test:" +
                   std::to_string(second.port()) + "/\r\nContent-Length: 0\r\n\r\n");
      });
  Client client({.registries = {evil(server), "redis.test:" + std::to_string(second.port())},
                 .ca = certificates_.ca()});

  EXPECT_EQ(client.find(evil(server) + "/a:1").kind, Kind::failed);
  EXPECT_GT(second.connections(), 0);
}

TEST_F(RealRegistry, WhoseNameLeadsInsideIsRefusedByItsAddress) {
  HttpsServer server(certificates_.good(),
                     [&](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
                       if (request.target == "/v2/") return peer.answer(200, "{}");
                       peer.write(
                           "HTTP/1.1 307 Temporary Redirect\r\nLocation: "
                           "https://rebound.example.com/\r\nContent-Length: 0\r\n\r\n");
                     });
  Client client({.registries = {evil(server)}, .ca = certificates_.ca()});

  EXPECT_EQ(client.find(evil(server) + "/a:1").kind, Kind::failed);
  EXPECT_THAT(client.log(), HasSubstr("leads to an address that is not public"));
}

}  // namespace
}  // namespace cronlatch::registry
