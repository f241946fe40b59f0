// SPDX-License-Identifier: Apache-2.0
// TestConnection: one connection to a server under test, over TLS or plain. It sends any bytes and
// reads responses one by one. Blocking, with the timeout of tests/support/patience.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace cronlatch::testing {

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool says_close() const;
};

struct TlsClientOptions {
  std::string ca;               // PEM file with the CA of the server
  int lowest = 0, highest = 0;  // OpenSSL's version numbers; 0: any
  std::string alpn{};           // in connection format
  std::string cert{}, key{};    // the client certificate
};

class TestConnection {
 public:
  explicit TestConnection(int port, const char* ip = "127.0.0.1");  // plain
  TestConnection(int port, const TlsClientOptions& options);
  ~TestConnection();
  TestConnection(const TestConnection&) = delete;
  TestConnection& operator=(const TestConnection&) = delete;

  bool connected() const { return connected_; }  // and the TLS handshake is complete
  bool send(std::string_view bytes);             // false: the peer has closed
  // The next response; nothing when the peer closed the connection or sent an invalid one.
  std::optional<Answer> answer();
  // Reads until the peer closes; false after the timeout.
  bool is_closed_by_peer();
  std::string alpn() const;
  std::string peer_serial() const;  // of the server's certificate
  void half_close();

 private:
  void connect(int port, const char* ip);
  bool read_some();

  int fd_ = -1;
  ssl_ctx_st* context_ = nullptr;
  ssl_st* ssl_ = nullptr;
  bool connected_ = false;
  bool timed_out_ = false;
  std::string unread_;
};

std::string post(std::string_view path, std::string_view body,
                 std::string_view type = "application/json");
std::string get(std::string_view path);

}  // namespace cronlatch::testing
