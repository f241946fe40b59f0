// SPDX-License-Identifier: Apache-2.0
// The stream of messages after the login; session_login.cc has the login.
#include "store/postgres/session.h"

#include <utility>

#include "base/kernel_clock.h"
#include "store/postgres/errors.h"

namespace cronlatch::postgres {
namespace {

const redis::ServerKind kServer = {
    "postgres", ssl_request(),
    "enable ssl on the server; sslmode=disable in store connects without TLS (unsafe)",
    "see the server's log"};

// Of all answers to one request: a list of more locks than the exporter reads.
constexpr std::size_t kMaxRowBytes = 64 << 20;

}  // namespace

PostgresSession::PostgresSession(redis::Discovery& discovery, std::vector<redis::Address>& failed,
                                 redis::TlsContext* tls, const PostgresLogin& login,
                                 Purpose purpose, TimePoint now)
    : login_(login),
      purpose_(purpose),
      connection_(discovery, failed, tls, login.where, now, std::nullopt, kServer) {}

void PostgresSession::step(const PollSet& set, TimePoint now) {
  connection_.step(set, now);
  if (connection_.is_open() && stage_ == Stage::connecting) send_startup();
  reader_.feed(connection_.read());
  while (!failure_) {
    const std::optional<Message> message = reader_.next();
    if (!message) break;
    handle(*message, now);
  }
  connection_.flush();
  if (!reader_.broken().empty()) fail_unreadable(reader_.broken());
  if (connection_.failure() && !failure_ && (awaited_ > 0 || answers_.empty()))
    failure_ = connection_.failure();
}

void PostgresSession::listen(const std::string& channel) {
  if (channel == channel_) return;
  std::string sql = channel_.empty() ? "" : "UNLISTEN *";
  if (!channel.empty()) sql += (sql.empty() ? "LISTEN " : "; LISTEN ") + channel;
  channel_ = channel;
  ++ignored_;
  connection_.write(simple_query(sql));
  connection_.flush();
}

void PostgresSession::send(std::string_view messages, std::size_t answers) {
  is_notified_ = false;
  awaited_ = answers;
  row_bytes_ = 0;
  answers_.clear();
  connection_.write(messages);
  connection_.flush();
}

std::optional<std::vector<QueryResult>> PostgresSession::take() {
  if (awaited_ > 0 || answers_.empty()) return std::nullopt;
  return std::exchange(answers_, {});
}

void PostgresSession::handle(const Message& message, TimePoint now) {
  switch (message.type) {
    case 'R':  // Authentication
      if (stage_ != Stage::authenticating) return fail_unreadable("an unexpected message");
      return authenticate(message.body);
    case 'E':    // ErrorResponse
    case 'N': {  // NoticeResponse
      auto parsed = parse_server_message(message.body);
      if (!parsed) return fail_unreadable("an invalid error message");
      if (message.type == 'N') {
        current_.has_warning = current_.has_warning || parsed->severity == "WARNING";
        return;
      }
      return server_failed(std::move(*parsed));
    }
    case 'D': {  // DataRow
      auto row = parse_row(message.body);
      if (!row) return fail_unreadable("an invalid row");
      if (stage_ != Stage::greeting && awaited_ == 0)
        return fail_unreadable("a row without a request");
      row_bytes_ += message.body.size() + row->size() * sizeof(Row::value_type);
      if (row_bytes_ > kMaxRowBytes) return fail_unreadable("an answer that is too large");
      current_.rows.push_back(std::move(*row));
      return;
    }
    case 'C':  // CommandComplete
      current_.tag = FieldReader(message.body).text();
      return;
    case 'Z':  // ReadyForQuery
      return query_ended(now);
    case 'A':  // NotificationResponse
      return notified(message.body);
    case 'S':  // ParameterStatus
    case 'K':  // BackendKeyData
    case 'T':  // RowDescription
    case 'I':  // EmptyQueryResponse
    case '1':  // ParseComplete
    case '2':  // BindComplete
    case 'v':  // NegotiateProtocolVersion
      return;
    default:
      return fail_unreadable("an unexpected message");
  }
}

void PostgresSession::query_ended(TimePoint now) {
  QueryResult answer = std::exchange(current_, {});
  switch (stage_) {
    case Stage::connecting:
    case Stage::authenticating:
      return fail_unreadable("an unexpected message");
    case Stage::starting:
      return greet();
    case Stage::greeting:
      return read_greeting(answer, now);
    case Stage::ready:
      if (ignored_ > 0) {
        --ignored_;
        return;
      }
      if (awaited_ == 0) return fail_unreadable("an answer without a request");
      --awaited_;
      answers_.push_back(std::move(answer));
      return;
  }
}

// Through a pooler, a notification of another client can arrive.
void PostgresSession::notified(std::string_view body) {
  FieldReader fields(body);
  fields.number(4);  // the process that notifies
  const std::string_view channel = fields.text();
  fields.text();  // the payload
  if (!fields.complete()) return fail_unreadable("an invalid notification");
  if (channel == channel_) is_notified_ = true;
}

// An error ends the login or the connection, or it is the answer to a request.
void PostgresSession::server_failed(const ServerMessage& message) {
  const bool is_fatal = message.severity == "FATAL" || message.severity == "PANIC";
  if (is_fatal || stage_ == Stage::authenticating || stage_ == Stage::starting) {
    mark_peer_failed();
    return fail(server_error(message, login_.where), sql_state_row(message.state).transient);
  }
  if (!current_.error) current_.error = message;
}

void PostgresSession::set_server_time(ServerTime server, TimePoint read_at) {
  server_ = server;
  server_read_at_ = read_at;
}

void PostgresSession::refuse(Code code, std::string_view what, std::string hint) {
  fail(postgres_error(code, login_.where, what, std::move(hint)), false);
}

void PostgresSession::fail_unreadable(std::string_view why) {
  mark_peer_failed();
  fail(postgres_error(Code::unreachable, login_.where, why,
                      "check that a PostgreSQL server listens on this port"),
       true);
}

void PostgresSession::fail(Error error, bool transient) {
  if (!failure_) failure_ = redis::Failure{std::move(error), transient};
}

}  // namespace cronlatch::postgres
