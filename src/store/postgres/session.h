// SPDX-License-Identifier: Apache-2.0
// Session: a connection after the login. Requests are sent as one write; their answers are
// collected until the server is ready again.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "core/store.h"
#include "store/postgres/message.h"
#include "store/postgres/scram.h"
#include "store/redis/connection.h"

namespace cronlatch::postgres {

inline constexpr int kSchemaVersion = 4;  // schema/begin.sql
inline constexpr int kOldestSchema = 3;   // that this program can use

struct PostgresLogin {
  std::string where;  // host:port
  std::string user;
  std::string database;
  Secret password;
  bool is_verified = false;  // TLS with a verified certificate: a password may be sent as it is
};

// What the server sent for one query message, or for one call with its Sync.
struct QueryResult {
  std::vector<Row> rows;
  std::string tag;  // of the last command that was completed
  std::optional<ServerMessage> error;
  bool has_warning = false;
};

// What a session is used for.
enum class Purpose {
  verbs,   // the schema must have a usable version
  schema,  // it may be missing
};

class PostgresSession {
 public:
  // `login` must outlive the session.
  PostgresSession(redis::Discovery& discovery, std::vector<redis::Address>& failed,
                  redis::TlsContext* tls, const PostgresLogin& login, Purpose purpose,
                  TimePoint now);

  void watch(PollSet& set) const { connection_.watch(set); }
  void step(const PollSet& set, TimePoint now);

  // The server accepted the login, is not in recovery, and has a usable schema.
  bool is_ready() const { return stage_ == Stage::ready && !failure_; }
  // The version of that schema, at most that of this program. With Purpose::schema always that one.
  int schema() const { return schema_; }
  // Only when ready, and when no answers are awaited.
  void send(std::string_view messages, std::size_t answers);
  // Between two requests: from now on has_notification() reports those on this channel, or none if
  // it is "". Best effort: a refusal has no other effect.
  void listen(const std::string& channel);
  // Since the last send().
  bool has_notification() const { return is_notified_; }
  bool take_notification() { return std::exchange(is_notified_, false); }
  // All answers of the last send(), once.
  std::optional<std::vector<QueryResult>> take();
  const std::optional<redis::Failure>& failure() const { return failure_; }

  // The server's clock at `t`, or slightly less, never more.
  ServerTime server_time(TimePoint t) const { return server_ + (t - server_read_at_); }
  // An answer that was read not later than `read_at` contained the server's time `server`.
  void set_server_time(ServerTime server, TimePoint read_at);

  void mark_peer_failed() { connection_.mark_peer_failed(); }
  Error timeout_error() const { return connection_.timeout_error(); }

 private:
  enum class Stage { connecting, authenticating, starting, greeting, ready };
  void send_startup();
  void handle(const Message& message, TimePoint now);
  void authenticate(std::string_view body);
  void refuse_without_proof();
  void send_password();
  void start_scram(FieldReader mechanisms);
  void continue_scram(std::string_view data);
  void end_scram(std::string_view data);
  void server_failed(const ServerMessage& message);
  void query_ended(TimePoint now);
  void notified(std::string_view body);
  void greet();
  void read_greeting(const QueryResult& answer, TimePoint now);
  void refuse(Code code, std::string_view what, std::string hint);
  void fail(Error error, bool transient);
  void fail_unreadable(std::string_view why);

  const PostgresLogin& login_;
  Purpose purpose_;
  redis::Connection connection_;
  MessageReader reader_;
  Stage stage_ = Stage::connecting;
  std::optional<Scram> scram_;
  bool is_server_proved_ = false;
  int schema_ = kSchemaVersion;
  QueryResult current_;
  std::vector<QueryResult> answers_;
  std::size_t awaited_ = 0;
  std::string channel_;      // "" while the session does not listen
  std::size_t ignored_ = 0;  // answers to LISTEN and UNLISTEN that are awaited
  bool is_notified_ = false;
  std::size_t row_bytes_ = 0;  // of the rows since the last send()
  std::optional<redis::Failure> failure_;
  ServerTime server_{};
  TimePoint server_read_at_{};
};

}  // namespace cronlatch::postgres
