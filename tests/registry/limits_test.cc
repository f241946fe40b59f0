// SPDX-License-Identifier: Apache-2.0
// Registries that limit requests, with the responses that they send over TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "client.h"
#include "support/digest.h"
#include "support/https_server.h"

namespace cronlatch::registry {
namespace {

using ::testing::HasSubstr;
using namespace cronlatch::testing;
using Kind = LookupResult::Kind;

// One image for every name. The test sets what is limited.
class LimitingRegistry {
 public:
  explicit LimitingRegistry(const Certificates& certificates)
      : server_(certificates.good(),
                [this](const auto& request, HttpsServer::Peer& peer) { answer(request, peer); }) {}
  std::string name() const { return "registry.test:" + std::to_string(server_.port()); }
  std::string image(const std::string& repository = "a") const {
    return name() + "/" + repository + ":1";
  }

  void answer_heads_with(const std::string& status, const std::string& headers) {
    const std::lock_guard lock(mutex_);
    head_ = "HTTP/1.1 " + status + "\r\n" + headers;
  }
  // Limits GETs with this part in their path.
  void limit(const std::string& part) {
    const std::lock_guard lock(mutex_);
    limited_ = part;
  }
  std::atomic<int> heads{0}, manifests{0}, blobs{0};

 private:
  void answer(const HttpsServer::Request& request, HttpsServer::Peer& peer) {
    const std::lock_guard lock(mutex_);
    const auto is_in_path = [&](const std::string& part) {
      return request.target.find(part) != std::string::npos;
    };
    if (request.method == "HEAD") {
      ++heads;
      return peer.write(head_ + "Docker-Content-Digest: sha256:" + sha256(manifest_) +
                        "\r\nContent-Length: " + std::to_string(manifest_.size()) + "\r\n\r\n");
    }
    if (is_in_path("/manifests/")) ++manifests;
    if (is_in_path("/blobs/")) ++blobs;
    if (!limited_.empty() && is_in_path(limited_))
      return send(peer, "429 Too Many Requests",
                  R"({"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]})");
    if (is_in_path("/manifests/")) return send(peer, "200 OK", manifest_);
    if (is_in_path("/blobs/")) return send(peer, "200 OK", config_);
    peer.answer(200, "{}");
  }
  void send(HttpsServer::Peer& peer, const std::string& status, const std::string& bytes) const {
    peer.write("HTTP/1.1 " + status + "\r\nContent-Type: " + std::string(kManifest) +
               "\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes);
  }

  static constexpr char kManifest[] = "application/vnd.oci.image.manifest.v1+json";
  const std::string config_ = R"({"architecture":"amd64","os":"linux","config":{"Cmd":["x"]},)"
                              R"("rootfs":{"type":"layers","diff_ids":[]}})";
  const std::string manifest_ = R"({"schemaVersion":2,"mediaType":")" + std::string(kManifest) +
                                R"(","layers":[],"config":{"mediaType":)"
                                R"("application/vnd.oci.image.config.v1+json","digest":"sha256:)" +
                                sha256(config_) + R"(","size":)" + std::to_string(config_.size()) +
                                "}}";
  std::mutex mutex_;
  std::string head_ = "HTTP/1.1 200 OK\r\n", limited_;
  HttpsServer server_;
};

class RegistryWithLimits : public RealRegistry {
 protected:
  // The timeout is that of the operator.
  Client::Config config() const {
    return {.registries = {registry_.name()},
            .ca = certificates_.ca(),
            .timeout = Millis(15'000),
            .first_pause = Millis(600'000)};
  }
  LimitingRegistry registry_{certificates_};
};

TEST_F(RegistryWithLimits, ABusyAnswerToHeadHasThePauseOfRetryAfter) {
  const Client client(config());
  for (const char* status : {"429 Too Many Requests", "503 Service Unavailable"}) {
    for (const int seconds : {0, 120, 7 * 3'600}) {
      registry_.answer_heads_with(
          status, seconds == 0 ? "" : "Retry-After: " + std::to_string(seconds) + "\r\n");

      const HeadResult result = client.head(registry_.image());

      EXPECT_EQ(result.kind, HeadResult::Kind::busy) << status;
      EXPECT_EQ(result.retry_after, Seconds(std::min(seconds, 6 * 3'600))) << status;
      EXPECT_THAT(result.error, HasSubstr(std::string(status, 3)));
    }
  }
  registry_.answer_heads_with("500 Internal Server Error", "");
  EXPECT_EQ(client.head(registry_.image()).kind, HeadResult::Kind::unavailable);
}

TEST_F(RegistryWithLimits, ABusyAnswerToHeadPausesAllRequests) {
  registry_.answer_heads_with("429 Too Many Requests", "Retry-After: 120\r\n");
  Client client(config());

  EXPECT_THAT(client.find(registry_.image("a")).error, HasSubstr("limits requests"));
  EXPECT_THAT(client.find(registry_.image("b")).error, HasSubstr("limits requests"));

  EXPECT_EQ(registry_.heads, 1);
  EXPECT_EQ(registry_.manifests, 0);
}

TEST_F(RegistryWithLimits, NoManifestIsReadWithoutRemainingPulls) {
  Client client(config());
  for (const char* repository : {"a", "b"}) {
    const bool has_window = *repository == 'b';
    registry_.answer_heads_with(
        "200 OK", std::string("RateLimit-Remaining: 0") + (has_window ? ";w=21600" : "") + "\r\n");
    EXPECT_THAT(client.find(registry_.image(repository)).error, HasSubstr("no more pulls"));
  }
  EXPECT_EQ(registry_.heads, 2);
  EXPECT_EQ(registry_.manifests, 0);

  registry_.answer_heads_with("200 OK", "RateLimit-Remaining: 1;w=21600\r\n");
  EXPECT_EQ(cmd(client.find(registry_.image("c"))), Words{"x"});
}

// skopeo would repeat the GET for longer than the timeout of a lookup.
TEST_F(RegistryWithLimits, ALimitedGetIsReportedAfterOneRequestAndPausesAll) {
  registry_.limit("/manifests/");
  Client client(config());

  EXPECT_THAT(client.find(registry_.image("a")).error, HasSubstr("toomanyrequests"));
  EXPECT_THAT(client.find(registry_.image("b")).error, HasSubstr("toomanyrequests"));

  EXPECT_EQ(registry_.heads, 1);
  EXPECT_EQ(registry_.manifests, 1);
  EXPECT_TRUE(client.has_no_temporary_files());
}

TEST_F(RegistryWithLimits, ALimitedConfigIsReportedAfterOneRequest) {
  registry_.limit("/blobs/");
  Client client(config());

  EXPECT_THAT(client.find(registry_.image()).error, HasSubstr("toomanyrequests"));

  EXPECT_EQ(registry_.blobs, 1);
}

}  // namespace
}  // namespace cronlatch::registry
