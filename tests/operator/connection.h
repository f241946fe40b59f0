// SPDX-License-Identifier: Apache-2.0
// Wire: one connection to a server under test, over TLS or plain, that sends whatever bytes a test
// wants and reads answers one by one. Blocking, with the tests' patience as its limit.
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

struct TlsWish {
  std::string ca;               // PEM file that the server's certificate must come from
  int lowest = 0, highest = 0;  // of OpenSSL's version numbers; 0: any
  std::string alpn{};           // in wire format
  std::string cert{}, key{};    // what we show
};

class Wire {
 public:
  explicit Wire(int port, const char* ip = "127.0.0.1");  // plain
  Wire(int port, const TlsWish& wish);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool connected() const { return connected_; }  // and TLS agreed on
  bool send(std::string_view bytes);             // false: the peer is gone
  // The next answer; nothing when the peer closed, or sent what is none.
  std::optional<Answer> answer();
  // Reads on until the peer closes; false when it does not in time.
  bool is_closed_by_peer();
  std::string alpn() const;
  std::string peer_serial() const;  // of the certificate we were shown
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
