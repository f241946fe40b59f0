// SPDX-License-Identifier: Apache-2.0
// metrics-push against a real Pushgateway: what arrives, in which group, over TLS; and gateways
// that are away, silent, or refuse, which never cost more than a warning.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "gated.h"
#include "support/certificates.h"

namespace cronlatch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A socket of the test's own, closed with it.
class TcpSocket {
 public:
  TcpSocket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit TcpSocket(int fd) : fd_(fd) {}
  ~TcpSocket() { close(fd_); }
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// The whole response to one request on its own connection; "" if the port is closed.
std::string exchange(int port, const std::string& request) {
  const TcpSocket socket;
  const sockaddr_in address = loopback(port);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return "";
  if (send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "";
  std::string answer;
  char block[4'096];
  for (ssize_t got = 0; (got = recv(socket.get(), block, sizeof block, 0)) > 0;)
    answer.append(block, static_cast<std::size_t>(got));
  return answer;
}

class Pushgateway {
 public:
  explicit Pushgateway(const Words& more = {}) : port_(free_port()) {
    Words argv = {"/usr/bin/prometheus-pushgateway",
                  "--web.listen-address=127.0.0.1:" + std::to_string(port_), "--persistence.file="};
    argv.insert(argv.end(), more.begin(), more.end());
    program_ = std::make_unique<Program>(ProgramSpec{.argv = argv});
    EXPECT_TRUE(program_->complains("Listening on") || program_->complains("listen"))
        << program_->err();
  }
  int port() const { return port_; }
  std::string url(const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_);
  }
  std::string metrics() const { return exchange(port_, "GET /metrics HTTP/1.0\r\n\r\n"); }

 private:
  int port_;
  std::unique_ptr<Program> program_;
};

class MetricsPush : public Gated {
 protected:
  ProgramSpec pushing(const std::string& url, Words options = {}) const {
    options.insert(options.end(), {"--metrics-push", url});
    return run(options, {"exit", "0"});
  }
  void expect_a_warning_and_nothing_else(const std::string& url, const std::string& words) {
    Program program(pushing(url));
    EXPECT_EQ(program.exit_code(), 0) << program.err();
    EXPECT_THAT(program.err(), HasSubstr("cannot push metrics to"));
    EXPECT_THAT(program.err(), HasSubstr(words));
    EXPECT_EQ(count(program.err(), "cannot push"), 1u);
    EXPECT_TRUE(lock_is_free());
  }
};

TEST_F(MetricsPush, SendsTheLocksMetricsInAGroupOfThisHost) {
  // Given
  const Pushgateway gateway;
  // When
  for (int i = 0; i < 2; ++i) {
    Program program(pushing(gateway.url(), {"--job", "shop/nightly"}));
    EXPECT_EQ(program.exit_code(), 0);
    EXPECT_THAT(program.err(), Not(HasSubstr("push")));
  }
  // Then
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  EXPECT_THAT(
      gateway.metrics(),
      HasSubstr("cronlatch_lock_acquired_total{cronjob=\"nightly\",instance=\"" +
                std::string(host) + "\",job=\"cronlatch\",lock=\"job\",namespace=\"shop\"} 2\n"));
  EXPECT_THAT(gateway.metrics(), HasSubstr("cronlatch_lock_hold_duration_seconds_count"));
}

TEST_F(MetricsPush, CountsRunErrorsWhereAFileKeepsThem) {
  // Given
  const Pushgateway gateway;
  // When: nothing like that command exists, and the run says so twice
  for (int i = 0; i < 2; ++i) {
    Program program(
        {.argv = {binary(), "run", "--lock", "a/b", "--store", store, "--metrics-file",
                  dir.path("m.prom"), "--metrics-push", gateway.url(), "--", "/no/such/command"}});
    EXPECT_EQ(program.exit_code(), 127);
  }
  // Then
  EXPECT_THAT(gateway.metrics(), HasSubstr("reason=\"exec\"} 2\n"));
  EXPECT_THAT(gateway.metrics(), HasSubstr("lock=\"a/b\""));
}

TEST_F(MetricsPush, KeepsToItsDeadlineWithASilentGatewayAndHasReleasedBefore) {
  // Given: one that takes the connection and the request, and answers nothing
  const TcpSocket listener;
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  // When
  Program program(pushing("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))));
  pollfd waiting{listener.get(), POLLIN, 0};
  ASSERT_EQ(poll(&waiting, 1, static_cast<int>(kPatience.count())), 1);
  const TcpSocket peer(accept(listener.get(), nullptr, nullptr));
  // Then
  EXPECT_TRUE(lock_is_free());
  EXPECT_EQ(program.exit_code(), 0) << program.err();
  EXPECT_THAT(program.err(), HasSubstr("waiting for an answer"));
}

TEST_F(MetricsPush, AnUnavailableGatewayIsOneWarning) {
  expect_a_warning_and_nothing_else("http://127.0.0.1:" + std::to_string(free_port()), "refused");
}

TEST_F(MetricsPush, AGatewayThatRefusesIsQuoted) {
  // Given: the same name with another type, from another program
  const Pushgateway gateway;
  const std::string text =
      "# TYPE cronlatch_lock_acquired_total gauge\ncronlatch_lock_acquired_total 1\n";
  EXPECT_THAT(exchange(gateway.port(), "POST /metrics/job/x HTTP/1.0\r\nContent-Length: " +
                                           std::to_string(text.size()) + "\r\n\r\n" + text),
              HasSubstr(" 200 "));
  // Then
  expect_a_warning_and_nothing_else(gateway.url(), "the response was 400");
}

TEST_F(MetricsPush, AnotherServerThanAPushgatewayIsReported) {
  const auto redis = RedisServer::start();
  expect_a_warning_and_nothing_else("http://127.0.0.1:" + std::to_string(redis->port()), "");
}

class MetricsPushTls : public MetricsPush {
 protected:
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  Pushgateway gateway_with(const CertFiles& files) const {
    write(dir.path("web.yml"),
          "tls_server_config:\n  cert_file: " + files.cert + "\n  key_file: " + files.key + "\n");
    return Pushgateway({"--web.config.file=" + dir.path("web.yml")});
  }
  const Certificates certificates;
};

TEST_F(MetricsPushTls, UsesTheStoresCaAndChecksTheName) {
  // Given
  const Pushgateway gateway = gateway_with(certificates.good());
  // When
  Program trusted(pushing(gateway.url("https"), {"--tls-ca", certificates.ca()}));
  Program unknown(pushing(gateway.url("https"), {"--tls-ca", certificates.other_ca()}));
  Program plain(pushing(gateway.url("http")));
  // Then
  EXPECT_EQ(trusted.exit_code(), 0);
  EXPECT_THAT(trusted.err(), Not(HasSubstr("push")));
  EXPECT_EQ(unknown.exit_code(), 0);
  EXPECT_THAT(unknown.err(), HasSubstr("signed by an unknown CA"));
  EXPECT_EQ(plain.exit_code(), 0);
  EXPECT_THAT(plain.err(), HasSubstr("the response was 400"));
}

TEST_F(MetricsPushTls, ACertificateForAnotherNameIsRefused) {
  const Pushgateway gateway = gateway_with(certificates.wrong_name());
  Program program(pushing(gateway.url("https"), {"--tls-ca", certificates.ca()}));
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_THAT(program.err(), HasSubstr("elsewhere.example"));
}

class MetricsPushFromRedis : public GatedByRedis {};

TEST_F(MetricsPushFromRedis, WithASharedStoreTheGroupHasOnlyTheLock) {
  const Pushgateway gateway;
  Program program(run({"--metrics-push", gateway.url()}, {"exit", "0"}));
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_THAT(gateway.metrics(),
              HasSubstr("cronlatch_lock_acquired_total{cronjob=\"\",instance="
                        "\"\",job=\"cronlatch\",lock=\"job\",namespace=\"\"} 1"));
}

}  // namespace
}  // namespace cronlatch::testing
