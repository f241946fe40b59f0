// SPDX-License-Identifier: Apache-2.0
// FaultConnection: one connection of a FaultProxy: the frames of both directions, and the fault.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "support/fault.h"
#include "support/tls_end.h"

namespace cronlatch::testing {

// Bytes to send at a given time, in their order.
class DelayedBytes {
 public:
  void push(std::string bytes, std::chrono::milliseconds delay = {});
  std::string take_due();
  void clear() { pieces_.clear(); }
  bool empty() const { return pieces_.empty(); }

 private:
  struct Piece {
    std::string bytes;
    std::chrono::steady_clock::time_point due;
  };
  std::deque<Piece> pieces_;
};

class FaultConnection {
 public:
  // Owns both sockets. Without a context the client sends plain bytes.
  FaultConnection(int client, int server, SSL_CTX* tls);
  ~FaultConnection();
  FaultConnection(const FaultConnection&) = delete;
  FaultConnection& operator=(const FaultConnection&) = delete;

  int client() const { return client_; }  // -1 when it is closed
  int server() const { return server_; }
  // Bytes are to be sent later, or the peer did not take them.
  bool waits_for_time() const {
    return !to_server_.empty() || !to_client_.empty() || !server_wire_.empty() ||
           !client_wire_.empty();
  }
  // Moves what can be moved; the flags say which sockets are readable.
  void step(bool client_ready, bool server_ready, const Fault& fault, FaultCounter& counter);
  // The connection of a closed client ends when the server has answered its late request.
  bool has_ended() const;

 private:
  struct Awaited {
    bool strike = false;  // its reply gets the fault
    bool close = false;   // the connection is closed after its reply
  };
  bool receive_from_client();
  void pass_requests(const Fault& fault, FaultCounter& counter);
  void pass_replies(const Fault& fault);
  void strike(const std::string& frame, const Fault& fault);
  bool send_to_client();
  void close_client();

  int client_;
  int server_;
  std::optional<TlsEnd> tls_;
  std::string requests_, replies_;         // received, not a whole frame yet
  std::string server_wire_, client_wire_;  // to be sent now
  DelayedBytes to_server_, to_client_;
  std::deque<Awaited> awaited_;
  std::string again_;     // a reply that is sent a second time after the next request
  bool silent_ = false;   // received bytes are dropped
  bool closing_ = false;  // when everything has been sent to the client
};

}  // namespace cronlatch::testing
