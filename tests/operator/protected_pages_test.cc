// SPDX-License-Identifier: Apache-2.0
// Metrics and status page with TLS and tokens: a real client, and an API server over HTTPS that
// reviews the tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/kernel_clock.h"
#include "connection.h"
#include "kube/json.h"
#include "operator/endpoints.h"
#include "rest/rest_api.h"
#include "support/certificates.h"
#include "support/https_server.h"
#include "support/journal.h"
#include "support/program.h"

namespace cronlatch::testing {
namespace {

using kube::Json;
using ::testing::HasSubstr;
using ::testing::Not;

// Knows two ServiceAccounts: prometheus with a token for the API server, and status with a token
// for the status page. Each may read its page.
struct ReviewServer {
  std::atomic<bool> is_available{true};
  std::atomic<int> reviews{0};
  Certificates certificates;
  HttpsServer server{certificates.good(),
                     [this](const HttpsServer::Request& request, HttpsServer::Peer& peer) {
                       if (!is_available) return peer.reset();
                       if (request.headers.at("authorization") != "Bearer operator")
                         return peer.answer(401, "{}");
                       ++reviews;
                       const auto body = kube::parse_json(request.body);
                       const Json spec = body ? body->at("spec") : Json();
                       if (request.target == "/apis/authentication.k8s.io/v1/tokenreviews")
                         return peer.answer(201, token_review(spec));
                       if (request.target == "/apis/authorization.k8s.io/v1/subjectaccessreviews")
                         return peer.answer(201, access_review(spec));
                       peer.answer(404, "{}");
                     }};

  static std::string token_review(const Json& spec) {
    const auto audiences = kube::strings_at(spec, {"audiences"});
    const std::string user =
        audiences.empty() ? "prometheus"
                          : (audiences.front() == "status.cronlatch.dev" ? "status" : "nobody");
    if (spec.at("token") != "token-of-" + user)
      return R"({"status":{"authenticated":false,"error":"invalid bearer token"}})";
    return Json({{"status",
                  {{"authenticated", true},
                   {"user", {{"username", user}}},
                   {"audiences", audiences}}}})
        .dump();
  }
  static std::string access_review(const Json& spec) {
    const Json& wanted = spec.at("nonResourceAttributes");
    const bool allowed = wanted.at("verb") == "get" &&
                         ((spec.at("user") == "prometheus" && wanted.at("path") == "/metrics") ||
                          (spec.at("user") == "status" && wanted.at("path") == "/status"));
    return Json({{"status", {{"allowed", allowed}}}}).dump();
  }
};

class ProtectedPages : public ::testing::Test {
 protected:
  ProtectedPages() {
    auto api = kube::RestApi::open({.server = reviewer_.server.url(),
                                    .ca_file = reviewer_.certificates.ca(),
                                    .token = Secret("operator")});
    EXPECT_TRUE(api);
    api_ = std::move(*api);
    access_.emplace(*api_, journal_.clock, journal_.log);
    pages_ = std::make_unique<op::HttpServer>(
        op::Transport::tls, op::HttpLimits{},
        op::protected_endpoints({metrics_, [] { return R"({"v":1})"; }}, *access_), journal_.log);
    const CertFiles& files = reviewer_.certificates.good();
    const auto certificate = op::parse_certificate(read_file(files.cert), read_file(files.key), "");
    EXPECT_TRUE(certificate);
    EXPECT_TRUE(pages_->set_certificate(*certificate));
    EXPECT_TRUE(pages_->start("127.0.0.1:0"));
  }

  Answer ask(const std::string& request) {
    TestConnection connection(pages_->port(), {.ca = reviewer_.certificates.ca()});
    EXPECT_TRUE(connection.connected());
    EXPECT_TRUE(connection.send(request));
    const auto answer = connection.answer();
    EXPECT_TRUE(answer);
    return answer.value_or(Answer{});
  }
  Answer read(const std::string& path, const std::string& authorization) {
    return ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: " + authorization +
               "\r\n\r\n");
  }

  ReviewServer reviewer_;
  Journal journal_;
  op::Metrics metrics_{"1"};
  std::unique_ptr<kube::RestApi> api_;
  std::optional<op::AccessControl> access_;
  std::unique_ptr<op::HttpServer> pages_;
};

TEST_F(ProtectedPages, PrometheusReadsTheMetricsWithItsToken) {
  const Answer answer = read("/metrics", "Bearer token-of-prometheus");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("cronlatch_build_info"));
  EXPECT_EQ(read("/metrics", "bearer  token-of-prometheus ").status, 200) << "RFC 6750, RFC 9110";
  EXPECT_EQ(reviewer_.reviews, 2) << "the second request is answered from memory";
}

TEST_F(ProtectedPages, RequestsWithoutAValidTokenAreRefused) {
  const Answer none = ask(get("/metrics"));
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.headers.at("www-authenticate"), "Bearer");
  EXPECT_EQ(reviewer_.reviews, 0);
  for (const char* const authorization :
       {"Bearer other", "Bearer", "Bearer ", "Basic token-of-prometheus", "token-of-prometheus",
        "Bearer token-of-status"})
    EXPECT_EQ(read("/metrics", authorization).status, 401) << authorization;
}

TEST_F(ProtectedPages, AUserWithoutTheRightIsRefused) {
  const Answer answer = read("/status", "Bearer token-of-prometheus");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("prometheus has no right"));
  EXPECT_THAT(journal_.text(), HasSubstr(R"("event":"access_refused")"));
  EXPECT_THAT(journal_.text(), Not(HasSubstr("token-of-")));
}

TEST_F(ProtectedPages, RefusesWhileTheAPIServerIsUnavailable) {
  reviewer_.is_available = false;
  EXPECT_EQ(read("/metrics", "Bearer token-of-prometheus").status, 503);
  EXPECT_THAT(journal_.text(), HasSubstr(R"("event":"access_unknown")"));
  EXPECT_THAT(journal_.text(), Not(HasSubstr("token-of-")));
  reviewer_.is_available = true;
  EXPECT_EQ(read("/metrics", "Bearer token-of-prometheus").status, 200);
}

TEST_F(ProtectedPages, TheStatusPageAcceptsATokenOfItsAudienceInTheBody) {
  const Answer answer = ask(post("/status", R"({"token":"token-of-status"})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"v":1})");
  // As kubectl sends it.
  const Answer chunked =
      ask("POST /status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
          "1b\r\n{\"token\":\"token-of-status\"}\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.status, 200);
  EXPECT_EQ(ask(post("/status", R"({"token":"token-of-prometheus"})")).status, 401);
  EXPECT_EQ(ask(post("/status", "")).status, 401);
  EXPECT_EQ(ask(post("/metrics", R"({"token":"token-of-status"})")).status, 405);
}

TEST_F(ProtectedPages, OtherPathsAreUnknown) {
  for (const char* const path : {"/healthz", "/readyz", "/", "/admit/job"})
    EXPECT_EQ(read(path, "Bearer token-of-prometheus").status, 404) << path;
}

TEST(PlainPages, WithoutPagesOnlyTheProbesAreServed) {
  const KernelClock clock{};
  const Log log(LogFormat::json, Level::error, clock, [](std::string_view) {});
  const op::Readiness readiness{};
  op::Liveness liveness(clock, log, Millis(1'000));
  const auto handler = op::plain_endpoints(readiness, liveness, std::nullopt);
  const auto status_of = [&](const std::string& path) {
    return handler({.method = "GET", .path = path, .content_type = "", .body = ""}).status;
  };
  EXPECT_EQ(status_of("/healthz"), 200);
  EXPECT_EQ(status_of("/readyz"), 503);
  EXPECT_EQ(status_of("/metrics"), 404);
  EXPECT_EQ(status_of("/status"), 404);
}

}  // namespace
}  // namespace cronlatch::testing
