// SPDX-License-Identifier: Apache-2.0
// Calls of the real client to an HTTPS server with the faults of networks and API servers.
#include "rest/rest_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "client.h"

namespace cronlatch::kube {
namespace {

using cronlatch::testing::certificates;
using cronlatch::testing::client_of;
using cronlatch::testing::HttpsServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

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

TEST(RestApi, PassesTheItemsOfAListAndOfNoError) {
  const HttpsServer server(certificates().good(), [](const auto& request, auto& peer) {
    peer.answer(request.target == "/pods" ? 200 : 403,
                R"({"message":"m","items":[{"name":"a"},{"name":"b"}]})");
  });
  const auto api = client_of(server);
  for (const auto& [path, expected] : {std::pair{"/pods", 2}, {"/secrets", 0}}) {
    int items = 0;
    Request list{.path = path};
    list.on_item = [&](const Json& before, const Json& item) {
      EXPECT_EQ(string_at(before, {"message"}), "m");
      EXPECT_EQ(string_at(item, {"name"}), items++ == 0 ? "a" : "b");
    };
    const auto answer = api->call(list);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(items, expected);
    EXPECT_EQ(items_at(answer->body, {"items"}).size(), 2U - static_cast<unsigned>(expected));
  }
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

class RestApiOverload : public ::testing::TestWithParam<Method> {};

TEST_P(RestApiOverload, RepeatsARejectedRequestAfterTheNamedTime) {
  std::vector<Steady::time_point> at;
  std::vector<std::string> bodies;
  const HttpsServer server(certificates().good(), [&](const auto& request, auto& peer) {
    at.push_back(Steady::now());
    bodies.push_back(request.body);
    if (at.size() == 1)
      peer.write(
          "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 4\r\n\r\nbusy");
    else
      peer.answer(201, R"({"kind":"Event"})");
  });
  const auto api = client_of(server);

  Request request{.method = GetParam(), .path = "/x", .deadline = 60s};
  if (request.method != Method::get) request.body = Json{{"a", 1}};
  const auto response = api->call(request);

  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 201);
  ASSERT_EQ(at.size(), 2U);
  EXPECT_GE(at[1] - at[0], 2s);
  EXPECT_EQ(bodies[0], bodies[1]);
}
INSTANTIATE_TEST_SUITE_P(ReadsAndWrites, RestApiOverload,
                         ::testing::Values(Method::get, Method::create));

TEST(RestApi, ReturnsTheRejectionIfTheNamedTimeIsAfterTheDeadline) {
  int requests = 0;
  const HttpsServer server(certificates().good(), [&](const auto&, auto& peer) {
    ++requests;
    peer.write("HTTP/1.1 503 X\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n");
  });

  const auto response = client_of(server)->call({.path = "/x", .deadline = 60s});

  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->retry_after, 600s);
  EXPECT_EQ(requests, 1);
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
