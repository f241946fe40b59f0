// SPDX-License-Identifier: Apache-2.0
// The login, and the greeting: the first query of a connection, which finds out whether the server
// and its schema can be used. Nothing of the environment is read: no PG* variable, no .pgpass, no
// service file.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/kernel_clock.h"
#include "store/postgres/errors.h"
#include "store/postgres/session.h"

namespace cronlatch::postgres {
namespace {

constexpr int kOldestServer = 130'000;  // server_version_num of PostgreSQL 13.0

// Of Authentication messages.
enum AuthCode : std::uint32_t {
  kAuthOk = 0,
  kAuthCleartext = 3,
  kAuthMd5 = 5,
  kAuthSasl = 10,
  kAuthSaslContinue = 11,
  kAuthSaslFinal = 12,
};

// Two statements: the first one also has an answer when the schema does not exist.
constexpr std::string_view kGreeting =
    "SELECT current_setting('server_version_num'), pg_is_in_recovery()";
constexpr std::string_view kGreetingOfSchema =
    "; SELECT o_version, o_oldest_program, o_now FROM cronlatch.hello()";

std::optional<std::int64_t> number_in(const Row& row, std::size_t column) {
  if (column >= row.size() || !row[column]) return std::nullopt;
  const std::string& text = *row[column];
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

}  // namespace

void PostgresSession::send_startup() {
  stage_ = Stage::authenticating;
  const std::array<std::pair<std::string_view, std::string_view>, 4> parameters = {{
      {"user", login_.user},
      {"database", login_.database},
      {"application_name", "cronlatch"},
      {"client_encoding", "UTF8"},
  }};
  connection_.write(startup(parameters));
}

void PostgresSession::authenticate(std::string_view body) {
  FieldReader fields(body);
  const std::uint32_t code = fields.number(4);
  if (!fields.fine()) return fail_unreadable("an invalid login message");
  switch (code) {
    case kAuthOk:
      // A server that only pretends to check the password would skip its own proof.
      if (!is_server_proved_ && scram_)
        return fail_unreadable("the server ended the login without its proof");
      if (!is_server_proved_ && !login_.password.empty() && !login_.is_verified)
        return refuse_without_proof();
      stage_ = Stage::starting;
      return;
    case kAuthCleartext:
      return send_password();
    case kAuthSasl:
      return start_scram(fields);
    case kAuthSaslContinue:
      return continue_scram(fields.rest());
    case kAuthSaslFinal:
      return end_scram(fields.rest());
    case kAuthMd5:
      return refuse(Code::auth, "the server requests the password as an md5 hash, which is weak",
                    "set password_encryption = 'scram-sha-256' and the password of the role again");
    default:
      return refuse(Code::auth,
                    "the server requests a login of type " + std::to_string(code) +
                        ", which cronlatch does not have",
                    "use scram-sha-256, cert or trust in pg_hba.conf on the server");
  }
}

// Without a verified certificate the proof is the only evidence that it is the right server.
void PostgresSession::refuse_without_proof() {
  mark_peer_failed();
  refuse(Code::auth,
         "the server requested no password (trust), and its certificate is not verified",
         "set sslmode=verify-full, or scram-sha-256 in pg_hba.conf on the server, or no password");
}

// The server sees the password: it must be the right server.
void PostgresSession::send_password() {
  if (!login_.is_verified)
    return refuse(Code::auth, "the server requests the password without a hash",
                  "use sslmode=verify-full, or scram-sha-256 in pg_hba.conf on the server");
  if (login_.password.empty())
    return refuse(Code::auth, "the server requires a password",
                  "set password-file, credentials-dir or CRONLATCH_PASSWORD");
  connection_.write(password(login_.password.reveal()));
}

void PostgresSession::start_scram(FieldReader mechanisms) {
  if (login_.password.empty())
    return refuse(Code::auth, "the server requires a password",
                  "set password-file, credentials-dir or CRONLATCH_PASSWORD");
  bool has_scram = false;
  for (std::string_view name = mechanisms.text(); !name.empty(); name = mechanisms.text())
    has_scram = has_scram || name == kScramMechanism;
  if (!mechanisms.fine() || scram_) return fail_unreadable("an invalid login message");
  if (!has_scram)
    return refuse(Code::auth, "the server does not have SCRAM-SHA-256",
                  "use scram-sha-256 in pg_hba.conf on the server");
  Result<std::string> nonce = random_nonce();
  if (!nonce) return fail(nonce.error(), false);
  scram_.emplace(login_.password, std::move(nonce).value());
  connection_.write(sasl_initial(kScramMechanism, scram_->first()));
}

void PostgresSession::continue_scram(std::string_view data) {
  const auto answer = scram_ ? scram_->answer(data) : std::nullopt;
  if (!answer) return fail_unreadable("an invalid login message");
  connection_.write(sasl_response(*answer));
}

void PostgresSession::end_scram(std::string_view data) {
  is_server_proved_ = scram_ && scram_->is_proved(data);
  if (is_server_proved_) return;
  mark_peer_failed();
  refuse(Code::auth, "the server does not have the password of the role",
         "check that store names the right server");
}

void PostgresSession::greet() {
  stage_ = Stage::greeting;
  std::string sql(kGreeting);
  if (purpose_ == Purpose::verbs) sql += kGreetingOfSchema;
  connection_.write(simple_query(sql));
}

void PostgresSession::read_greeting(const QueryResult& answer, TimePoint now) {
  if (answer.rows.empty()) {
    if (answer.error)
      return fail(server_error(*answer.error, login_.where),
                  sql_state_row(answer.error->state).transient);
    return fail_unreadable("an invalid greeting");
  }
  const auto version = number_in(answer.rows[0], 0);
  if (!version || answer.rows[0].size() != 2) return fail_unreadable("an invalid greeting");
  if (*version < kOldestServer)
    return refuse(
        Code::config,
        "the server has version " + std::to_string(*version / 10'000) + ", which is too old",
        "cronlatch needs PostgreSQL 13 or newer");
  if (answer.rows[0][1] != "f") {
    mark_peer_failed();
    return fail(
        postgres_error(Code::unreachable, login_.where, "the server is in recovery: a standby",
                       "set store to the primary server, or to all hosts, separated by "
                       "commas"),
        true);
  }
  if (answer.error)
    return fail(server_error(*answer.error, login_.where),
                sql_state_row(answer.error->state).transient);
  if (purpose_ == Purpose::verbs) {
    if (answer.rows.size() != 2) return fail_unreadable("an invalid greeting");
    const auto schema = number_in(answer.rows[1], 0);
    const auto oldest = number_in(answer.rows[1], 1);
    const auto time = number_in(answer.rows[1], 2);
    if (!time || !schema || !oldest)
      return refuse(Code::config, "the schema cronlatch has no version",
                    "run once, as the owner of the database: cronlatch store init");
    const std::string has = "the schema cronlatch has version " + std::to_string(*schema);
    if (*schema < kOldestSchema)
      return refuse(Code::config,
                    has + ", this program needs version " + std::to_string(kOldestSchema),
                    "run once, as the owner of the database: cronlatch store init");
    if (*oldest > kSchemaVersion)
      return refuse(Code::config, has + ", which is too new for this program",
                    "use a newer cronlatch");
    schema_ = static_cast<int>(std::min<std::int64_t>(*schema, kSchemaVersion));
    set_server_time(ServerTime{*time}, std::max(now, boot_now()));
  }
  stage_ = Stage::ready;
}

}  // namespace cronlatch::postgres
