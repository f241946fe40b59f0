// SPDX-License-Identifier: Apache-2.0
// The whole way from an image's name to its command, with the real client and a real registry; and
// registries that lie, drip, or point to where nobody may go.
#include "registry/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "registry/confine.h"
#include "support/https_server.h"
#include "support/registry_server.h"

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace cronlatch::testing;
using Kind = Told::Kind;
using Words = std::vector<std::string>;

class RealClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Micros(boottime_us())); }
  WallTime wall() const override { return {0}; }
};

// Everything that the operator has between an admission and a registry.
class Client {
 public:
  struct Wish {
    std::vector<std::string> registries;
    std::string ca;
    std::string docker_config{};
    Millis timeout{60'000};
  };
  explicit Client(Wish wish) : wish_(std::move(wish)) {
    EXPECT_TRUE(proxy_.start().ok());
    const auto logins = [this](const Question& question) {
      auto found =
          logins_for(wish_.docker_config.empty() ? "{}" : wish_.docker_config, question.image);
      return found ? *found : std::vector<Login>();
    };
    lookup_.emplace(Lookup::Parts{ask_by(skopeo_, logins, 100), {}, clock_},
                    LookupTempo{.timeout = wish_.timeout, .waiting = 200, .remembered = 1'000});
    lookup_->start();
  }
  Told find(const std::string& image, Words architectures = {"amd64"}) {
    const auto reference = image::parse_reference(image);
    EXPECT_TRUE(reference.ok()) << image;
    return lookup_->find({*reference, std::move(architectures)}, clock_.now() + Millis(90'000));
  }
  std::string log() const {
    const std::lock_guard lock(mutex_);
    return logged_;
  }
  bool confined() const { return confined_; }
  bool left_nothing() const { return std::filesystem::is_empty(scratch_.path()); }

 private:
  static image::RegistryPolicy policy_of(const Words& lines) {
    std::vector<image::ListedRegistry> listed;
    for (const std::string& line : lines) listed.push_back(*image::parse_listed(line));
    return image::RegistryPolicy(std::move(listed));
  }
  const Wish wish_;
  const RealClock clock_;
  ScratchDir scratch_;
  mutable std::mutex mutex_;
  std::string logged_;
  std::atomic<bool> confined_{true};
  const Log log_{LogFormat::text, Level::debug, clock_, [this](std::string_view line) {
                   const std::lock_guard lock(mutex_);
                   logged_ += line;
                 }};
  const image::RegistryPolicy policy_ = policy_of(wish_.registries);
  Proxy proxy_{policy_, {}, clock_, log_};
  const Skopeo skopeo_{SkopeoWishes{.ca_file = wish_.ca, .scratch = scratch_.path()}, policy_,
                       proxy_, clock_, [this] {
                         if (!confine_thread_to_ports({proxy_.port()})) confined_ = false;
                       }};
  std::optional<Lookup> lookup_;
};

class RealRegistry : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(name_hosts()) << "no mount namespace for the tests' hosts";
  }
  Client::Wish wish(const RegistryServer& registry) const {
    return {.registries = {registry.name()}, .ca = certificates_.ca()};
  }
  Certificates certificates_;
};

Words entrypoint(const Told& told, std::size_t at = 0) {
  EXPECT_EQ(told.kind, Kind::known) << told.why;
  return told.looked.on.size() > at ? told.looked.on[at].startup.entrypoint : Words{"?"};
}
Words cmd(const Told& told) {
  return told.looked.on.empty() ? Words{"?"} : told.looked.on[0].startup.cmd;
}

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

TEST_F(RealRegistry, ThatDripsIsGivenUpAtTheDeadline) {
  HttpsServer server(certificates_.good(),
                     [](const HttpsServer::Request&, HttpsServer::Peer& peer) {
                       peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
                       while (peer.pause(std::chrono::milliseconds(50))) peer.write("x");
                     });
  Client client({.registries = {evil(server)}, .ca = certificates_.ca(), .timeout = Millis(2'000)});

  const Told told = client.find(evil(server) + "/a:1");

  EXPECT_EQ(told.kind, Kind::failed);
  EXPECT_THAT(told.why, HasSubstr("longer than it may"));
  EXPECT_TRUE(client.left_nothing());
}

TEST_F(RealRegistry, WithADeepAnswerIsRefused) {
  HttpsServer server(certificates_.good(), [](const HttpsServer::Request& request,
                                              HttpsServer::Peer& peer) {
    if (request.target == "/v2/") return peer.answer(200, "{}");
    peer.answer(
        200, R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","x":)" +
                 std::string(5'000, '[') + std::string(5'000, ']') + "}");
  });
  Client client({.registries = {evil(server)}, .ca = certificates_.ca()});

  EXPECT_EQ(client.find(evil(server) + "/a:1").kind, Kind::failed);
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
