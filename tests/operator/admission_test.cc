// SPDX-License-Identifier: Apache-2.0
// The ports of the operator for the API server, the kubelet and Prometheus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <thread>

#include "kube/json.h"
#include "operator_process.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;

struct Response {
  std::string uid, patch_type, patch;
  bool allowed = false;
};
Response response_in(const std::string& review) {
  const auto parsed = kube::parse_json(review);
  if (!parsed) return {};
  const kube::Json* allowed = kube::find(*parsed, {"response", "allowed"});
  return {.uid = kube::string_at(*parsed, {"response", "uid"}),
          .patch_type = kube::string_at(*parsed, {"response", "patchType"}),
          .patch = kube::string_at(*parsed, {"response", "patch"}),
          .allowed = allowed != nullptr && *allowed == true};
}

std::string gated(const std::string& review) {
  const std::string plain = R"("metadata":{"name":"one")";
  std::string out = review;
  out.replace(out.find(plain), plain.size(),
              R"("metadata":{"annotations":{"cronlatch.dev/lock":"nightly"},"name":"one")");
  return out;
}

TEST(Admission, AnswersReviewAfterReviewOnOneConnection) {
  // Given
  const OperatorProcess op;
  const auto connection = op.connect();
  ASSERT_TRUE(connection->connected());
  for (const std::string uid : {"u-1", "u-2", "u-3"}) {
    // When: with the query that the API server adds
    ASSERT_TRUE(connection->send(post("/admit/job?timeout=10s", job_review(uid))));
    const auto answer = connection->answer();
    // Then
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->headers.at("content-type"), "application/json");
    EXPECT_FALSE(answer->says_close());
    const auto review = kube::parse_json(answer->body);
    ASSERT_TRUE(review) << answer->body;
    EXPECT_EQ(kube::string_at(*review, {"apiVersion"}), "admission.k8s.io/v1");
    EXPECT_EQ(kube::string_at(*review, {"kind"}), "AdmissionReview");
    EXPECT_EQ(kube::string_at(*review, {"response", "uid"}), uid);
    EXPECT_TRUE(response_in(answer->body).allowed);
  }
}

TEST(Admission, AnswersAnAnnotatedJobWithAPatch) {
  // Given
  const OperatorProcess op;
  // When
  const auto answer = op.ask(post("/admit/job", gated(job_review("u-9"))));
  // Then
  ASSERT_TRUE(answer);
  const Response response = response_in(answer->body);
  EXPECT_TRUE(response.allowed) << answer->body;
  EXPECT_EQ(response.patch_type, "JSONPatch");
  EXPECT_FALSE(response.patch.empty());
}

TEST(Admission, ReportsTheCorrectRequest) {
  // Given
  const OperatorProcess op;
  // When
  const auto read = op.ask(get("/admit/job"));
  const auto as_text = op.ask(post("/admit/job", job_review("u"), "text/plain"));
  const auto with_charset =
      op.ask(post("/admit/job", job_review("u"), "Application/JSON; charset=utf-8"));
  const auto elsewhere = op.ask(post("/admit/pod", job_review("u")));
  // Then
  ASSERT_TRUE(read && as_text && with_charset && elsewhere);
  EXPECT_EQ(read->status, 405);
  EXPECT_EQ(read->headers.at("allow"), "POST");
  EXPECT_EQ(as_text->status, 415);
  EXPECT_EQ(with_charset->status, 200);
  EXPECT_EQ(elsewhere->status, 404);
}

TEST(Admission, AcceptsOnlyTls12AndTls13) {
  // Given
  const OperatorProcess op;
  TlsClientOptions options = op.tls();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    // When
    options.lowest = options.highest = version;
    TestConnection connection(op.admission_port(), options);
    // Then
    EXPECT_TRUE(connection.connected()) << version;
  }
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    // When
    options.lowest = options.highest = version;
    TestConnection connection(op.admission_port(), options);
    // Then
    EXPECT_FALSE(connection.connected()) << version;
  }
}

TEST(Admission, SelectsHttp11AndRejectsOtherProtocols) {
  // Given
  const OperatorProcess op;
  TlsClientOptions options = op.tls();
  // When
  options.alpn = "\x02h2\x08http/1.1";
  const TestConnection both(op.admission_port(), options);
  options.alpn = "\x02h2";
  const TestConnection only_h2(op.admission_port(), options);
  // Then
  ASSERT_TRUE(both.connected());
  EXPECT_EQ(both.alpn(), "http/1.1");
  EXPECT_FALSE(only_h2.connected());
}

TEST(Admission, ServesOnlyTheApiServerWithAClientCa) {
  // Given
  const OperatorProcess op({.client_ca = true});
  TlsClientOptions options = op.tls();
  const auto is_answered = [&] {
    TestConnection connection(op.admission_port(), options);
    return connection.send(post("/admit/job", job_review("u"))) && connection.answer();
  };
  // When, then
  EXPECT_FALSE(is_answered());
  options.cert = op.certificates().unknown_ca().cert;
  options.key = op.certificates().unknown_ca().key;
  EXPECT_FALSE(is_answered());
  options.cert = op.certificates().client().cert;
  options.key = op.certificates().client().key;
  EXPECT_TRUE(is_answered());
  EXPECT_EQ(op.ask_plain(get("/readyz"))->status, 200);
}

TEST(Admission, AnswersManyClientsAtOnceEachWithItsOwnReview) {
  // Given
  const OperatorProcess op;
  const int before = op.open_files();
  std::atomic<int> right{0};
  // When
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      const auto connection = op.connect();
      for (int i = 0; i < 40 && connection->connected(); ++i) {
        const std::string uid = std::to_string(client) + "-" + std::to_string(i);
        if (!connection->send(post("/admit/job", job_review(uid)))) return;
        const auto answer = connection->answer();
        if (answer && response_in(answer->body).uid == uid) ++right;
      }
    });
  }
  for (auto& client : clients) client.join();
  // Then
  EXPECT_EQ(right, 8 * 40);
  EXPECT_TRUE(op.open_files_return_to(before));
}

TEST(Admission, AnswersPipelinedReviewsInTheirOrder) {
  // Given
  const OperatorProcess op;
  const auto connection = op.connect();
  // When
  std::string all;
  for (const char* uid : {"a", "b", "c", "d"}) all += post("/admit/job", job_review(uid));
  ASSERT_TRUE(connection->send(all));
  // Then
  for (const char* uid : {"a", "b", "c", "d"}) {
    const auto answer = connection->answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(response_in(answer->body).uid, uid);
  }
}

TEST(Health, IsServedWithoutTlsAndWithReasons) {
  // Given
  const OperatorProcess op;
  // When
  const auto alive = op.ask_plain(get("/healthz"));
  const auto ready = op.ask_plain(get("/readyz"));
  const auto wrong = op.ask_plain(post("/healthz", "{}"));
  // Then
  ASSERT_TRUE(alive && ready && wrong);
  EXPECT_EQ(alive->status, 200);
  EXPECT_EQ(ready->status, 200) << ready->body;
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->headers.at("allow"), "GET, HEAD");
}

TEST(Health, ExportsMetricsFromTheFirstScrapeAndCountsAdmissions) {
  // Given
  const OperatorProcess op;
  const auto first = op.ask_plain(get("/metrics"));
  // When
  ASSERT_TRUE(op.ask(post("/admit/job", job_review("u"))));
  ASSERT_TRUE(op.ask(post("/admit/cronjob", "no review")));
  const auto second = op.ask_plain(get("/metrics"));
  // Then
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const std::string skipped =
      R"(cronlatch_admission_requests_total{resource="job",result="skipped"} )";
  const std::string error =
      R"(cronlatch_admission_requests_total{resource="cronjob",result="error"} )";
  EXPECT_THAT(first->body, HasSubstr(skipped + "0\n"));
  // Outside of a cluster there is no other replica.
  EXPECT_THAT(first->body, HasSubstr("cronlatch_leader 1\n"));
  EXPECT_THAT(first->body, HasSubstr("\nprocess_open_fds "));
  EXPECT_THAT(first->body, HasSubstr("cronlatch_build_info{version=\""));
  for (const std::string use : {"serving", "ca"})
    EXPECT_THAT(first->body,
                HasSubstr("cronlatch_certificate_expiry_timestamp_seconds{use=\"" + use + "\"} "));
  EXPECT_THAT(second->body, HasSubstr(skipped + "1\n"));
  EXPECT_THAT(second->body, HasSubstr(error + "1\n"));
  for (const std::string resource : {"cronjob", "job"})
    EXPECT_THAT(second->body, HasSubstr("cronlatch_admission_duration_seconds_count{resource=\"" +
                                        resource + "\"} 1\n"));
}

}  // namespace
}  // namespace cronlatch::testing
