// SPDX-License-Identifier: Apache-2.0
// The real client against an HTTPS server with the faults of networks and API servers.
#include "rest/rest_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "support/certificates.h"
#include "support/https_server.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::Certificates;
using cronlatch::testing::HttpsServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

const Certificates& certificates() {
  static const Certificates made;
  return made;
}

std::unique_ptr<RestApi> client_of(const HttpsServer& server,
                                   const std::function<void(ClusterAccess&)>& change = {}) {
  ClusterAccess access{.server = server.url(), .ca_file = certificates().ca()};
  if (change) change(access);
  auto api = RestApi::open(std::move(access));
  EXPECT_TRUE(api.ok());
  return std::move(*api);
}

std::string event(const std::string& type, const std::string& name) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name + "\"}}}\n";
}

struct Seen {
  std::vector<std::string> names;
  std::function<void(const WatchEvent&)> sink() {
    return [this](const WatchEvent& e) {
      names.push_back(string_at(e.object, {"metadata", "name"}));
    };
  }
};

Request watching(Millis deadline = 60s) {
  return {.path = "/apis/batch/v1/cronjobs", .query = {{"watch", "1"}}, .deadline = deadline};
}

TEST(RestApi, SendsMethodTargetTypeAndBody) {
  HttpsServer::Request got;
  const HttpsServer server(certificates().good(), [&](const auto& request, auto& peer) {
    got = request;
    peer.answer(200, R"({"kind":"Job"})");
  });
  const auto api = client_of(server, [](ClusterAccess& a) { a.token = Secret("abc"); });

  const auto response = api->call({.method = Method::patch,
                                   .path = "/apis/batch/v1/namespaces/demo/jobs/a b",
                                   .query = {{"fieldManager", "cron&latch"}},
                                   .body = Json{{"a", 1}},
                                   .patch_type = PatchType::merge});

  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(string_at(response->body, {"kind"}), "Job");
  EXPECT_EQ(got.method, "PATCH");
  EXPECT_EQ(got.target, "/apis/batch/v1/namespaces/demo/jobs/a%20b?fieldManager=cron%26latch");
  EXPECT_EQ(got.headers["content-type"], "application/merge-patch+json");
  EXPECT_EQ(got.headers["authorization"], "Bearer abc");
  EXPECT_EQ(got.body, R"({"a":1})");
}

TEST(RestApi, ReturnsAnErrorStatusAsAnAnswer) {
  const HttpsServer server(certificates().good(), [](const auto&, auto& peer) {
    peer.answer(409, R"({"kind":"Status","reason":"AlreadyExists","message":"it is there"})");
  });

  const auto response = client_of(server)->call({.path = "/x"});

  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 409);
  EXPECT_EQ(response->reason(), "AlreadyExists");
}

TEST(RestApi, FollowsNoRedirect) {
  int requests = 0;
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    ++requests;
    peer.write("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
  });

  const auto response = client_of(server)->call({.path = "/x"});

  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(requests, 1);
}

TEST(RestApi, EndsACallAtItsDeadlineWhileSingleBytesArrive) {
  const HttpsServer server(certificates().good(), [](const auto&, auto& peer) {
    peer.begin_stream();
    while (peer.pause(50ms)) peer.chunk(" ");
  });
  const auto api = client_of(server);

  const auto began = Steady::now();
  const auto response = api->call({.path = "/x", .deadline = 600ms});

  ASSERT_FALSE(response.ok());
  EXPECT_THAT(response.error().message, HasSubstr("deadline"));
  EXPECT_LT(Steady::now() - began, 20s);  // the server would drip for ever
}

TEST(RestApi, EndsACallAtItsDeadlineWhenTheServerIsSilent) {
  const HttpsServer server(certificates().good(),
                           [](const auto&, auto& peer) { peer.wait_for_client_to_go(); });

  const auto response = client_of(server)->call({.path = "/x", .deadline = 300ms});

  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::unreachable);
}

TEST(RestApi, TrustsOnlyTheGivenCa) {
  // Given a server whose CA is in the CA store of the system
  const HttpsServer server(certificates().good(),
                           [](const auto&, auto& peer) { peer.answer(200, "{}"); });
  setenv("SSL_CERT_FILE", certificates().ca().c_str(), 1);
  // When the client is configured with another CA
  const auto api =
      client_of(server, [](ClusterAccess& a) { a.ca_file = certificates().other_ca(); });
  const auto response = api->call({.path = "/x"});
  unsetenv("SSL_CERT_FILE");
  // Then it rejects the server and reports the reason
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::tls);
  EXPECT_THAT(response.error().message, HasSubstr("certificate verify failed"));
}

TEST(RestApi, RejectsACertificateForAnotherName) {
  const HttpsServer server(certificates().wrong_name(),
                           [](const auto&, auto& peer) { peer.answer(200, "{}"); });

  const auto response = client_of(server)->call({.path = "/x"});

  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::tls);
}

TEST(RestApi, ReadsTheTokenAgainAfter401) {
  std::vector<std::string> shown;
  const HttpsServer server(certificates().good(), [&](const auto& request, auto& peer) {
    shown.push_back(request.headers.at("authorization"));
    if (shown.back() == "Bearer new")
      peer.answer(200, R"({"kind":"Job"})");
    else
      peer.answer(401, R"({"reason":"Unauthorized"})");
  });
  const std::string file = certificates().dir() + "/token";
  std::ofstream(file) << "old\n";
  const auto api = client_of(server, [&](ClusterAccess& a) { a.token_file = file; });

  const auto before = api->call({.path = "/x"});
  std::ofstream(file) << "new\n";
  const auto after = api->call({.path = "/x"});

  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(before->status, 401);
  EXPECT_EQ(before->reason(), "Unauthorized");
  EXPECT_EQ(after->status, 200);
  EXPECT_EQ(string_at(after->body, {"kind"}), "Job");
  EXPECT_THAT(shown, ElementsAre("Bearer old", "Bearer old", "Bearer new"));
}

TEST(RestApi, WatchJoinsEventsFromChunks) {
  const std::string all = event("ADDED", "a") + event("MODIFIED", "b") + event("DELETED", "c");
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    for (std::size_t at = 0; at < all.size(); at += 7) peer.chunk(all.substr(at, 7));
    peer.end_stream();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->status, 200);
  EXPECT_THAT(seen.names, ElementsAre("a", "b", "c"));
}

TEST(RestApi, WatchDiscardsAnIncompleteLineAfterAReset) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a") + R"({"type":"ADDED","obj)");
    peer.pause(100ms);  // so that the bytes are read before the reset takes them away
    peer.reset();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  EXPECT_FALSE(end.ok());
  EXPECT_THAT(seen.names, ElementsAre("a"));
}

TEST(RestApi, WatchEndsAtItsDeadlineWhenTheServerIsSilent) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a"));
    peer.wait_for_client_to_go();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(3s), seen.sink(), {});

  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message, HasSubstr("deadline"));
  EXPECT_THAT(seen.names, ElementsAre("a"));
}

// As with an unplugged cable: no packet reports the lost connection.
TEST(RestApi, WatchEndsAfterItsIdleTimeout) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a"));
    peer.wait_for_client_to_go();
  });
  Seen seen;
  Request request = watching(60s);
  request.idle_timeout = 300ms;

  const auto began = Steady::now();
  const auto end = client_of(server)->watch(request, seen.sink(), {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->status, 200);
  EXPECT_THAT(seen.names, ElementsAre("a"));
  EXPECT_LT(Steady::now() - began, 30s);  // long before its deadline
}

TEST(RestApi, WatchWithoutResponseIsAnErrorBeforeItsDeadline) {
  const HttpsServer server(certificates().good(),
                           [](const auto&, auto& peer) { peer.wait_for_client_to_go(); });
  Request request = watching(60s);
  request.idle_timeout = 300ms;

  const auto began = Steady::now();
  const auto end = client_of(server)->watch(request, [](const WatchEvent&) {}, {});

  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, Code::unreachable);
  EXPECT_THAT(end.error().message, HasSubstr("no answer"));
  EXPECT_LT(Steady::now() - began, 30s);
}

TEST(RestApi, WatchContinuesWhileBytesArrive) {
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    for (int i = 0; i < 12 && peer.pause(250ms); ++i) peer.chunk(event("BOOKMARK", "b"));
    peer.chunk(event("ADDED", "last"));
    peer.end_stream();
  });
  Seen seen;
  Request request = watching(60s);
  request.idle_timeout = 2s;  // of each pause, not of all of them together

  const auto end = client_of(server)->watch(request, seen.sink(), {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(seen.names.back(), "last");
}

TEST(RestApi, WatchEndsAtItsDeadlineWhileEventsArrive) {
  std::atomic<bool> enough{false};
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    const std::string many = event("ADDED", std::string(10'000, 'x'));
    const auto began = Steady::now();
    while (!enough && Steady::now() - began < 30s) peer.chunk(many);
    peer.close();
  });
  const auto api = client_of(server);

  const auto end = api->watch(watching(500ms), [](const WatchEvent&) {}, {});
  enough = true;

  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message, HasSubstr("deadline"));
}

TEST(RestApi, WatchIsStoppedWhileTheServerIsSilent) {
  std::atomic<bool> went{false};
  std::stop_source stop;
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a"));
    went = peer.wait_for_client_to_go();
  });
  const auto api = client_of(server);

  const auto began = Steady::now();
  const auto end = api->watch(
      watching(), [&](const WatchEvent&) { stop.request_stop(); }, stop.get_token());

  EXPECT_LT(Steady::now() - began, 20s);
  while (!went && Steady::now() - began < 20s) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(went);  // the connection is not left behind
}

TEST(RestApi, WatchReturns410AsStatus) {
  const HttpsServer server(certificates().good(), [](const auto&, auto& peer) {
    peer.answer(410, R"({"kind":"Status","code":410,"reason":"Expired"})");
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->status, 410);
  EXPECT_EQ(end->reason(), "Expired");
}

TEST(RestApi, WatchReturns410FromAnEvent) {
  const HttpsServer server(certificates().good(), [](const auto&, auto& peer) {
    peer.begin_stream();
    peer.chunk(event("ADDED", "a") +
               R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Gone"}})"
               "\n");
    peer.end_stream();
  });
  Seen seen;

  const auto end = client_of(server)->watch(watching(), seen.sink(), {});

  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->status, 410);
  EXPECT_EQ(end->reason(), "Gone");
  EXPECT_THAT(seen.names, ElementsAre("a"));
}

TEST(RestApi, WatchLimitsItsMemoryWithAFastServer) {
  constexpr int kEvents = 5'000;
  const std::string filler(1'000, 'x');
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    peer.begin_stream();
    for (int i = 0; i < kEvents; ++i) peer.chunk(event("ADDED", filler));
    peer.end_stream();
  });
  int count = 0;

  const auto end = client_of(server)->watch(watching(), [&](const WatchEvent&) { ++count; }, {});

  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(count, kEvents);
}

TEST(RestApi, PresentsAClientCertificate) {
  // The server requests no certificate; a key that does not match would fail the handshake.
  const HttpsServer server(certificates().good(),
                           [](const auto&, auto& peer) { peer.answer(200, "{}"); });
  const auto api = client_of(server, [](ClusterAccess& a) {
    a.client_cert_file = certificates().client().cert;
    a.client_key_file = certificates().client().key;
  });

  EXPECT_TRUE(api->call({.path = "/x"}).ok());
}

TEST(RestApi, ReportsAnUnsupportedAddress) {
  const auto refused = [](const std::string& server) {
    auto api = RestApi::open({.server = server, .ca_file = certificates().ca()});
    return api.ok() ? "" : api.error().message;
  };
  EXPECT_THAT(refused("https://[fd00::1]:443"), HasSubstr("IPv6 literal"));
  EXPECT_THAT(refused("http://127.0.0.1:80"), HasSubstr("not an https://"));
  EXPECT_THAT(refused("https://:443"), HasSubstr("not https://host:port"));
}

TEST(RestApi, ReturnsAnErrorWhenTheConnectionIsRefused) {
  auto api = RestApi::open({.server = "https://127.0.0.1:1", .ca_file = certificates().ca()});
  ASSERT_TRUE(api.ok());

  const auto response = (*api)->call({.path = "/x"});

  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::unreachable);
}

}  // namespace
}  // namespace cronlatch::kube
