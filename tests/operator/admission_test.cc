// SPDX-License-Identifier: Apache-2.0
// The operator as the API server, the kubelet and Prometheus know it.
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
  const auto wire = op.connect();
  ASSERT_TRUE(wire->connected());
  for (const std::string uid : {"u-1", "u-2", "u-3"}) {
    // When: with the query that the API server adds
    ASSERT_TRUE(wire->send(post("/admit/job?timeout=10s", job_review(uid))));
    const auto answer = wire->answer();
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

TEST(Admission, TellsWhoeverAsksWronglyWhatWouldBeRight) {
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

TEST(Admission, AgreesOnTls12AndTls13AndNothingOlder) {
  // Given
  const OperatorProcess op;
  TlsWish wish = op.tls();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    // When
    wish.lowest = wish.highest = version;
    Wire wire(op.admission_port(), wish);
    // Then
    EXPECT_TRUE(wire.connected()) << version;
  }
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    // When
    wish.lowest = wish.highest = version;
    Wire wire(op.admission_port(), wish);
    // Then
    EXPECT_FALSE(wire.connected()) << version;
  }
}

TEST(Admission, ChoosesHttp11AndRefusesWhoSpeaksOnlySomethingElse) {
  // Given
  const OperatorProcess op;
  TlsWish wish = op.tls();
  // When
  wish.alpn = "\x02h2\x08http/1.1";
  const Wire both(op.admission_port(), wish);
  wish.alpn = "\x02h2";
  const Wire only_h2(op.admission_port(), wish);
  // Then
  ASSERT_TRUE(both.connected());
  EXPECT_EQ(both.alpn(), "http/1.1");
  EXPECT_FALSE(only_h2.connected());
}

TEST(Admission, ServesOnlyTheApiServerWhereItsAuthorityIsGiven) {
  // Given
  const OperatorProcess op({.client_ca = true});
  TlsWish wish = op.tls();
  const auto is_answered = [&] {
    Wire wire(op.admission_port(), wish);
    return wire.send(post("/admit/job", job_review("u"))) && wire.answer();
  };
  // When, then
  EXPECT_FALSE(is_answered());
  wish.cert = op.certificates().unknown_ca().cert;
  wish.key = op.certificates().unknown_ca().key;
  EXPECT_FALSE(is_answered());
  wish.cert = op.certificates().client().cert;
  wish.key = op.certificates().client().key;
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
      const auto wire = op.connect();
      for (int i = 0; i < 40 && wire->connected(); ++i) {
        const std::string uid = std::to_string(client) + "-" + std::to_string(i);
        if (!wire->send(post("/admit/job", job_review(uid)))) return;
        const auto answer = wire->answer();
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
  const auto wire = op.connect();
  // When
  std::string all;
  for (const char* uid : {"a", "b", "c", "d"}) all += post("/admit/job", job_review(uid));
  ASSERT_TRUE(wire->send(all));
  // Then
  for (const char* uid : {"a", "b", "c", "d"}) {
    const auto answer = wire->answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(response_in(answer->body).uid, uid);
  }
}

TEST(Health, IsToldWithoutTlsAndWithItsReasons) {
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

TEST(Health, ShowsMetricsFromTheFirstScrapeAndCountsAdmissions) {
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
  // Outside of a cluster nobody else could lead.
  EXPECT_THAT(first->body, HasSubstr("cronlatch_leader 1\n"));
  EXPECT_THAT(first->body, HasSubstr("\nprocess_open_fds "));
  EXPECT_THAT(first->body, HasSubstr("cronlatch_build_info{version=\""));
  EXPECT_THAT(first->body, HasSubstr("cronlatch_certificate_expiry_timestamp_seconds{use="));
  EXPECT_THAT(second->body, HasSubstr(skipped + "1\n"));
  EXPECT_THAT(second->body, HasSubstr(error + "1\n"));
  EXPECT_THAT(second->body, HasSubstr("cronlatch_admission_duration_seconds_count 2\n"));
}

}  // namespace
}  // namespace cronlatch::testing
