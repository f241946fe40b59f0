// SPDX-License-Identifier: Apache-2.0
// Connection: one connection to the server as a stream of plain bytes: finds the address, connects,
// does the TLS handshake, then carries bytes. It is used once: after a failure there is a new
// Connection. It does all the sending and receiving, never blocks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "core/store.h"
#include "store/redis/dialer.h"
#include "store/redis/discovery.h"
#include "store/redis/errors.h"
#include "store/redis/tls.h"

namespace cronlatch::redis {

// Why a connection came to its end.
struct Failure {
  Error error;
  bool transient = true;
};

class Connection {
 public:
  // Starts. `failed`: addresses that were of no use lately, tried last; extended here. `tls` null:
  // plain TCP. All must outlive the link.
  Connection(Discovery& discovery, std::vector<Address>& failed, TlsContext* tls, std::string where,
             TimePoint now);

  void watch(PollSet& set) const;
  void step(const PollSet& set, TimePoint now);  // receives; call flush() when all is written
  void flush();

  bool is_open() const { return stage_ == Stage::open; }
  void write(std::string_view plain);  // only when open
  std::string read();                  // what has arrived since
  // Read first: what arrived before the end is still there.
  const std::optional<Failure>& failure() const { return failure_; }

  // The server we talk to is of no use: another address comes first next time.
  void mark_peer_failed();
  // The error for a caller that waits no longer; says what it was waiting for.
  Error timeout_error() const;

 private:
  enum class Stage { finding, dialing, handshaking, open, failed };
  void find(const PollSet& set, TimePoint now);
  void dial(const PollSet& set, TimePoint now);
  void connected(Dialed dialed);
  void receive();
  void take(std::string_view wire);
  void fail(Error error, bool transient);
  std::string_view current_step() const;
  void fail_connection_closed(std::string_view how);
  void fail_tls(Error error);

  Discovery& discovery_;
  std::vector<Address>& failed_;
  TlsContext* tls_;
  std::string where_;
  Stage stage_ = Stage::finding;
  std::optional<Dialer> dialer_;
  Fd socket_;
  std::optional<Address> peer_;
  std::unique_ptr<TlsStream> stream_;
  std::string in_, out_;       // plain bytes that came, wire bytes that have to go
  bool has_received_ = false;  // the peer has sent plain bytes
  std::optional<Failure> failure_;
};

}  // namespace cronlatch::redis
