// SPDX-License-Identifier: Apache-2.0
// Connection: one connection to the server as a stream of plain bytes. It resolves the name,
// connects, does the TLS handshake, then sends and receives. It never blocks. After a failure it is
// replaced by a new Connection.
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

// Why a connection ended.
struct Failure {
  Error error;
  bool transient = true;
};

// What differs between the servers that a Connection can connect to.
struct ServerKind {
  std::string_view name;  // in messages: "redis at host:port"
  // Sent before the TLS handshake, which begins when the server answers with 'S'; "": it begins at
  // once.
  std::string tls_request{};
  std::string_view no_tls_hint{};  // for a handshake that fails or does not end
  std::string_view tls_hint{};     // for a server that closes a connection without TLS
};
extern const ServerKind kRedisServer;

class Connection {
 public:
  // Starts to connect. `failed`: addresses that failed recently, tried last; extended here. `tls`
  // null: plain TCP. All and `kind` must outlive the connection. `tls_peer`: if the server is not
  // that of the settings of `tls`.
  Connection(Discovery& discovery, std::vector<Address>& failed, TlsContext* tls, std::string where,
             TimePoint now, std::optional<TlsPeer> tls_peer = std::nullopt,
             const ServerKind& kind = kRedisServer);

  void watch(PollSet& set) const;
  void step(const PollSet& set, TimePoint now);  // receives; call flush() when all is written
  void flush();

  bool is_open() const { return stage_ == Stage::open; }
  void write(std::string_view plain);  // only when open
  std::string read();                  // all bytes received since the last call
  // Call read() first: bytes can have arrived before the failure.
  const std::optional<Failure>& failure() const { return failure_; }

  // The next connection tries other addresses before this one.
  void mark_peer_failed();
  // The error after the caller's deadline; names the step that was not finished.
  Error timeout_error() const;

 private:
  enum class Stage { resolving, dialing, requesting_tls, handshaking, open, failed };
  void resolve(const PollSet& set, TimePoint now);
  void dial(const PollSet& set, TimePoint now);
  void connected(Dialed dialed);
  void start_tls();
  void read_tls_answer(std::string_view wire);
  Error error_of(RedisErrorClass failure) const;
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
  std::optional<TlsPeer> tls_peer_;
  const ServerKind& kind_;
  Stage stage_ = Stage::resolving;
  std::optional<Dialer> dialer_;
  Fd socket_;
  std::optional<Address> peer_;
  std::unique_ptr<TlsStream> stream_;
  std::string in_, out_;       // plain bytes received, wire bytes to send
  bool has_received_ = false;  // the peer has sent plain bytes
  std::optional<Failure> failure_;
};

}  // namespace cronlatch::redis
