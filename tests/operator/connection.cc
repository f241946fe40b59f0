// SPDX-License-Identifier: Apache-2.0
// Sockets and OpenSSL without corrections: a test can send invalid bytes.
#include "connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "support/program.h"

namespace cronlatch::testing {
namespace {

void set_patience(int fd) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(kPatience).count();
  const timeval patience{seconds, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Status line and headers, without the empty line.
Answer parse_head(const std::string& head) {
  Answer answer;
  if (head.starts_with("HTTP/1.")) answer.status = std::atoi(head.c_str() + 9);
  std::size_t at = head.find("\r\n");
  while (at != std::string::npos) {
    const std::size_t begin = at + 2;
    at = head.find("\r\n", begin);
    const std::string line = head.substr(begin, at == std::string::npos ? at : at - begin);
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) {
      answer.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    }
  }
  return answer;
}

}  // namespace

bool Answer::says_close() const {
  const auto connection = headers.find("connection");
  return connection != headers.end() && lower(connection->second) == "close";
}

void TestConnection::connect(int port, const char* ip) {
  std::signal(SIGPIPE, SIG_IGN);
  const bool six = std::string_view(ip).find(':') != std::string_view::npos;
  fd_ = ::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  set_patience(fd_);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  ::inet_pton(six ? AF_INET6 : AF_INET, ip,
              six ? static_cast<void*>(&v6.sin6_addr) : static_cast<void*>(&v4.sin_addr));
  connected_ = (six ? ::connect(fd_, reinterpret_cast<sockaddr*>(&v6), sizeof(v6))
                    : ::connect(fd_, reinterpret_cast<sockaddr*>(&v4), sizeof(v4))) == 0;
}

TestConnection::TestConnection(int port, const char* ip) { connect(port, ip); }

TestConnection::TestConnection(int port, const TlsClientOptions& options) {
  connect(port, "127.0.0.1");
  if (!connected_) return;
  context_ = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_security_level(context_, 0);  // or our own side would refuse old versions
  SSL_CTX_set_min_proto_version(context_, options.lowest);
  SSL_CTX_set_max_proto_version(context_, options.highest);
  SSL_CTX_load_verify_locations(context_, options.ca.c_str(), nullptr);
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  if (!options.alpn.empty()) {
    SSL_CTX_set_alpn_protos(context_, reinterpret_cast<const unsigned char*>(options.alpn.data()),
                            static_cast<unsigned>(options.alpn.size()));
  }
  if (!options.cert.empty()) {
    SSL_CTX_use_certificate_chain_file(context_, options.cert.c_str());
    SSL_CTX_use_PrivateKey_file(context_, options.key.c_str(), SSL_FILETYPE_PEM);
  }
  ssl_ = SSL_new(context_);
  SSL_set1_host(ssl_, "localhost");
  SSL_set_fd(ssl_, fd_);
  connected_ = SSL_connect(ssl_) == 1;
  ERR_clear_error();
}

TestConnection::~TestConnection() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
  if (fd_ >= 0) ::close(fd_);
}

bool TestConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const auto sent = ssl_ != nullptr
                          ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                          : static_cast<int>(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool TestConnection::read_some() {
  char buffer[16384];
  ERR_clear_error();
  errno = 0;
  const auto got = ssl_ != nullptr ? SSL_read(ssl_, buffer, sizeof(buffer))
                                   : static_cast<int>(::recv(fd_, buffer, sizeof(buffer), 0));
  timed_out_ = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (got > 0) unread_.append(buffer, static_cast<std::size_t>(got));
  return got > 0;
}

std::optional<Answer> TestConnection::answer() {
  std::size_t end;
  while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_some()) return std::nullopt;
  }
  Answer answer = parse_head(unread_.substr(0, end));
  unread_.erase(0, end + 4);
  const auto length = static_cast<std::size_t>(std::atol(answer.headers["content-length"].c_str()));
  while (unread_.size() < length) {
    if (!read_some()) return std::nullopt;
  }
  answer.body = unread_.substr(0, length);
  unread_.erase(0, length);
  return answer;
}

bool TestConnection::is_closed_by_peer() {
  while (read_some()) {
  }
  return !timed_out_;
}

std::string TestConnection::alpn() const {
  const unsigned char* chosen = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(ssl_, &chosen, &length);
  return std::string(reinterpret_cast<const char*>(chosen), length);
}

std::string TestConnection::peer_serial() const {
  X509* shown = SSL_get1_peer_certificate(ssl_);
  if (shown == nullptr) return "";
  BIGNUM* number = ASN1_INTEGER_to_BN(X509_get_serialNumber(shown), nullptr);
  char* text = BN_bn2hex(number);
  const std::string serial = text;
  OPENSSL_free(text);
  BN_free(number);
  X509_free(shown);
  return serial;
}

void TestConnection::half_close() { ::shutdown(fd_, SHUT_WR); }

std::string post(std::string_view path, std::string_view body, std::string_view type) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: x\r\nContent-Type: " + std::string(type) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

}  // namespace cronlatch::testing
