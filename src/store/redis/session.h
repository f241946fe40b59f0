// SPDX-License-Identifier: Apache-2.0
// Session: a connection after the login. HELLO, SELECT and TIME are sent in one write, directly
// after the TLS handshake. Answers are matched to the commands of this connection in order.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "core/store.h"
#include "store/redis/connection.h"
#include "store/redis/resp.h"

namespace cronlatch::redis {

// What the server must be.
enum class ServerRole {
  single,    // a standalone server
  master,    // a server that is no replica
  sentinel,  // has no TIME
  node,      // of a Cluster
};

struct RedisLogin {
  std::string where;  // host:port
  std::string user;
  Secret password;
  int db = 0;
  ServerRole role = ServerRole::single;
  bool is_strict = false;             // checks what the option strict needs from the server
  std::optional<TlsPeer> tls_peer{};  // none: that of the TLS settings
};

// The answer of TIME; no value when it is invalid.
std::optional<ServerTime> parse_time(const Resp& reply);

class RedisSession {
 public:
  RedisSession(Discovery& discovery, std::vector<Address>& failed, TlsContext* tls,
               const RedisLogin& login, TimePoint now);

  void watch(PollSet& set) const { connection_.watch(set); }
  void step(const PollSet& set, TimePoint now);

  // The server accepted the login and returned its time.
  bool is_ready() const { return ready_ && !failure_; }
  enum class OnAnswer { keep, discard };
  // Only when ready. flush() passes the bytes to the kernel.
  void send(const std::vector<std::string>& argv, OnAnswer on_answer);
  void flush();
  // The next answer that is kept.
  std::optional<Resp> take();
  const std::optional<Failure>& failure() const { return failure_; }
  // After a strict login: INFO does not contain maxmemory-policy.
  bool hides_eviction_policy() const { return hides_policy_; }

  // The server's clock at `t`, or slightly less, never more.
  ServerTime server_time(TimePoint t) const;
  // An answer that was read not later than `read_at` contained the server's time `server`.
  void set_server_time(ServerTime server, TimePoint read_at);

  void mark_peer_failed() { connection_.mark_peer_failed(); }
  Error timeout_error() const { return connection_.timeout_error(); }
  // Without the password, which some servers repeat in an error.
  std::string redact(std::string text) const;

 private:
  enum class Expected { hello, select, time, wait, memory, answer, nothing };
  void send_login();
  void handle(Resp reply, TimePoint now);
  void hello(const Resp& reply);
  void check_role(const Resp& hello);
  void select(const Resp& reply);
  void time(const Resp& reply, TimePoint now);
  void wait(const Resp& reply);
  void memory(const Resp& reply);
  void refused(const Resp& reply, const std::string& command = "");
  void fail(Error error, bool transient);
  void fail_unreadable();

  const RedisLogin& login_;
  Connection connection_;
  RespReader reader_;
  std::deque<Expected> expected_;
  std::deque<Resp> answers_;
  bool login_sent_ = false;
  bool ready_ = false;
  bool hides_policy_ = false;
  char first_byte_ = 0;
  std::optional<Failure> failure_;
  ServerTime server_{};
  TimePoint server_read_at_{};
};

}  // namespace cronlatch::redis
