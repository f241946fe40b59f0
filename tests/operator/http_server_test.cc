// SPDX-License-Identifier: Apache-2.0
// HttpServer in the process of the test, with handlers that fail or block.
#include "operator/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "connection.h"
#include "operator/http/routes.h"
#include "support/certificates.h"
#include "support/journal.h"
#include "support/program.h"

namespace cronlatch::testing {
namespace {

using op::HttpLimits;
using op::HttpRequest;
using op::HttpResponse;
using op::HttpServer;
using op::Transport;

// Blocks handlers until the test releases them.
class Gate {
 public:
  void open() { open_ = true; }
  void pass() const {
    while (!open_) std::this_thread::sleep_for(1ms);
  }

 private:
  std::atomic<bool> open_{false};
};

HttpResponse hello(const HttpRequest& request) {
  return {.body = request.method + " " + request.path + " " + request.body};
}

op::Certificate certificate_of(const CertFiles& files) {
  auto made = op::parse_certificate(read_file(files.cert), read_file(files.key), "");
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

TEST(HttpServer, SendsTheResponseOfTheHandler) {
  // Given
  Journal journal;
  HttpServer server(Transport::plain, {}, hello, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  TestConnection connection(server.port());
  // When
  ASSERT_TRUE(connection.send(post("/path?query=1", "body")));
  // Then
  const auto answer = connection.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST /path body");
}

TEST(HttpServer, ListensToBothFamiliesOnTheUnspecifiedAddress) {
  // Given
  Journal journal;
  HttpServer server(Transport::plain, {}, hello, journal.log);
  ASSERT_TRUE(server.start("[::]:0"));
  for (const char* ip : {"127.0.0.1", "::1"}) {
    // When
    TestConnection connection(server.port(), ip);
    connection.send(get("/"));
    // Then
    EXPECT_TRUE(connection.answer()) << ip;
  }
}

TEST(HttpServer, ReportsAnInvalidAddress) {
  Journal journal;
  for (const char* address : {"", "8443", "nowhere:1", "127.0.0.1:", "127.0.0.1:99999", ":8443",
                              "127.0.0.1", "::1:8443", "[::1", "[::1]8443"}) {
    HttpServer server(Transport::plain, {}, hello, journal.log);
    const Status started = server.start(address);
    ASSERT_FALSE(started) << address;
    EXPECT_EQ(started.error().code, Code::config) << address;
  }
  HttpServer first(Transport::plain, {}, hello, journal.log);
  ASSERT_TRUE(first.start("127.0.0.1:0"));
  HttpServer second(Transport::plain, {}, hello, journal.log);
  const Status taken = second.start("127.0.0.1:" + std::to_string(first.port()));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, ::testing::HasSubstr("in use"));
}

TEST(HttpServer, Sends503ForAHandlerThatIsTooSlow) {
  // Given
  Journal journal;
  Gate gate;
  const auto slow = [&](const HttpRequest&) {
    gate.pass();
    return HttpResponse{};
  };
  HttpServer server(Transport::plain, {.answer = Millis(100)}, slow, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  TestConnection connection(server.port());
  // When
  ASSERT_TRUE(connection.send(get("/")));
  // Then
  const auto answer = connection.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_TRUE(answer->says_close());
  EXPECT_TRUE(connection.is_closed_by_peer());
  gate.open();
}

TEST(HttpServer, Sends500ForAHandlerThatThrows) {
  // Given
  Journal journal;
  const auto bad = [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("oops"); };
  HttpServer server(Transport::plain, {}, bad, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  TestConnection connection(server.port());
  // When
  ASSERT_TRUE(connection.send(get("/")));
  // Then
  const auto answer = connection.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 500);
  EXPECT_TRUE(journal.has("oops"));
  EXPECT_EQ(answer->body.find("oops"), std::string::npos);
}

TEST(HttpServer, RejectsRequestsBeyondTheQueue) {
  // Given: one worker that is busy, and room for one more
  Journal journal;
  Gate gate;
  std::atomic<int> begun{0};
  const auto slow = [&](const HttpRequest&) {
    ++begun;
    gate.pass();
    return HttpResponse{};
  };
  HttpServer server(Transport::plain, {.queue = 1, .workers = 1}, slow, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  TestConnection first(server.port());
  first.send(get("/"));
  ASSERT_TRUE(eventually([&] { return begun == 1; }));
  // When: two more
  std::atomic<int> answered{0};
  std::atomic<int> status_sum{0};
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      TestConnection connection(server.port());
      connection.send(get("/"));
      const auto answer = connection.answer();
      if (answer) status_sum += answer->status;
      ++answered;
    });
  }
  // Then: the later one receives 503 at once
  EXPECT_TRUE(eventually([&] { return answered == 1; }));
  EXPECT_EQ(status_sum, 503);
  gate.open();
  for (auto& other : others) other.join();
  EXPECT_EQ(status_sum, 503 + 200);
}

TEST(HttpServer, Sends100Continue) {
  // Given
  Journal journal;
  HttpServer server(Transport::plain, {}, hello, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  TestConnection connection(server.port());
  // When
  ASSERT_TRUE(connection.send(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"));
  // Then
  auto answer = connection.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 100);
  ASSERT_TRUE(connection.send("body"));
  answer = connection.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "POST / body");
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  // Given
  Journal journal;
  HttpServer server(Transport::plain, {}, hello, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  TestConnection connection(server.port());
  // When: a body would be read as the beginning of the second response
  ASSERT_TRUE(connection.send("HEAD /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  // Then
  EXPECT_FALSE(connection.answer());  // the body that Content-Length speaks of never comes
  EXPECT_TRUE(connection.is_closed_by_peer());
}

TEST(HttpServer, ClosesConnectionsBeforeTheFirstCertificate) {
  // Given
  Journal journal;
  const Certificates certificates;
  HttpServer server(Transport::tls, {}, hello, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  const TlsClientOptions options{.ca = certificates.ca()};
  EXPECT_FALSE(TestConnection(server.port(), options).connected());
  // When
  ASSERT_TRUE(server.set_certificate(certificate_of(certificates.good())));
  // Then
  EXPECT_TRUE(TestConnection(server.port(), options).connected());
}

TEST(HttpServer, KeepsItsCertificateWhenTheNextIsInvalid) {
  // Given
  Journal journal;
  const Certificates certificates;
  HttpServer server(Transport::tls, {}, hello, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  ASSERT_TRUE(server.set_certificate(certificate_of(certificates.good())));
  op::Certificate mixed = certificate_of(certificates.rsa());
  mixed.key_pem = certificate_of(certificates.good()).key_pem;
  // When
  const Status used = server.set_certificate(mixed);
  // Then
  EXPECT_FALSE(used);
  EXPECT_TRUE(TestConnection(server.port(), TlsClientOptions{.ca = certificates.ca()}).connected());
}

TEST(HttpServer, ServesOnlyClientsOfTheGivenCa) {
  // Given
  Journal journal;
  const Certificates certificates;
  HttpServer server(Transport::tls, {}, hello, journal.log);
  ASSERT_TRUE(server.start("127.0.0.1:0"));
  ASSERT_TRUE(
      server.set_certificate(certificate_of(certificates.good()), read_file(certificates.ca())));
  const auto answers = [&](const CertFiles& shown) {
    TestConnection connection(
        server.port(),
        TlsClientOptions{.ca = certificates.ca(), .cert = shown.cert, .key = shown.key});
    return connection.send(get("/")) && connection.answer().has_value();
  };
  // When, then: with TLS 1.3 a client learns of the rejection after its first request
  EXPECT_TRUE(answers(certificates.client()));
  EXPECT_FALSE(answers(certificates.unknown_ca()));
  EXPECT_FALSE(answers({}));
}

}  // namespace
}  // namespace cronlatch::testing
