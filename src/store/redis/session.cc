// SPDX-License-Identifier: Apache-2.0
// The order of answers. session_login.cc: the login.
#include "store/redis/session.h"

namespace cronlatch::redis {
namespace {

constexpr char kTlsAlert = 0x15;

}  // namespace

RedisSession::RedisSession(Discovery& discovery, std::vector<Address>& failed, TlsContext* tls,
                           const RedisLogin& login, TimePoint now)
    : login_(login), connection_(discovery, failed, tls, login.where, now, login.tls_peer) {}

void RedisSession::step(const PollSet& set, TimePoint now) {
  connection_.step(set, now);
  if (connection_.is_open() && !login_sent_) send_login();
  const std::string bytes = connection_.read();
  if (first_byte_ == 0 && !bytes.empty()) first_byte_ = bytes.front();
  reader_.feed(bytes);
  while (!failure_) {
    std::optional<Resp> reply = reader_.next();
    if (!reply) break;
    handle(std::move(*reply), now);
  }
  flush();
  if (!reader_.broken().empty()) fail_unreadable();
}

void RedisSession::send(const std::vector<std::string>& argv, OnAnswer on_answer) {
  connection_.write(encode_command(argv));
  expected_.push_back(on_answer == OnAnswer::keep ? Expected::answer : Expected::nothing);
}

void RedisSession::flush() {
  connection_.flush();
  if (!failure_ && connection_.failure() && answers_.empty()) failure_ = connection_.failure();
}

std::optional<Resp> RedisSession::take() {
  if (answers_.empty()) return std::nullopt;
  Resp answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

void RedisSession::handle(Resp reply, TimePoint now) {
  if (expected_.empty()) {
    // A server that refuses a client sends an error without a command.
    if (reply.type == Resp::Type::error) return refused(reply);
    return fail_unreadable();
  }
  const Expected expected = expected_.front();
  expected_.pop_front();
  switch (expected) {
    case Expected::hello:
      return hello(reply);
    case Expected::select:
      return select(reply);
    case Expected::time:
      return time(reply, now);
    case Expected::wait:
      return wait(reply);
    case Expected::memory:
      return memory(reply);
    case Expected::answer:
      answers_.push_back(std::move(reply));
      return;
    case Expected::nothing:
      return;
  }
}

void RedisSession::refused(const Resp& reply, const std::string& command) {
  const RedisErrorRow& row = classify_redis_error(reply.text);
  if (row.drop) mark_peer_failed();
  std::string text = redact(reply.text);
  if (!command.empty()) text = with_refused_command(std::move(text), command, "");
  Error error = redis_error(row, login_.where, text);
  if (row.kind == RedisErrorClass::wrongpass && login_.password.empty())
    error.hint =
        "no password is set; " + std::string(redis_error_row(RedisErrorClass::noauth).hint);
  fail(std::move(error), row.transient);
}

void RedisSession::fail_unreadable() {
  mark_peer_failed();
  if (first_byte_ == kTlsAlert)
    return fail({Code::tls, "redis at " + login_.where + ": this port uses TLS",
                 "write rediss:// in store, or use the server's port without TLS"},
                false);
  const std::string why = reader_.broken().empty() ? "a reply without a command" : reader_.broken();
  fail({Code::unreachable, "redis at " + login_.where + ": " + why,
        "check that a Redis server listens on this port"},
       true);
}

void RedisSession::fail(Error error, bool transient) {
  if (!failure_) failure_ = Failure{std::move(error), transient};
}

ServerTime RedisSession::server_time(TimePoint t) const { return server_ + (t - server_read_at_); }

void RedisSession::set_server_time(ServerTime server, TimePoint read_at) {
  server_ = server;
  server_read_at_ = read_at;
}

std::string RedisSession::redact(std::string text) const {
  const std::string& secret = login_.password.reveal();
  if (secret.empty()) return text;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3))
    text.replace(at, secret.size(), "***");
  return text;
}

}  // namespace cronlatch::redis
