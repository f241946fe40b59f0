// SPDX-License-Identifier: Apache-2.0
// The login of a Session: what it sends, and what it requires of the server.
#include <algorithm>
#include <charconv>

#include "base/kernel_clock.h"
#include "store/redis/session.h"

namespace cronlatch::redis {
namespace {

constexpr const char* kVersionHint = "cronlatch needs Redis 6.2 or newer, or Valkey";

Error wrong_server(const std::string& where, const std::string& what, const std::string& hint) {
  return {Code::config, "redis at " + where + ": " + what, hint};
}

// The value of `key` in the answer of HELLO, which is a flat list of keys and values.
std::string field_of(const Resp& hello, std::string_view key) {
  for (std::size_t i = 0; i + 1 < hello.elements.size(); i += 2)
    if (hello.elements[i].text == key) return hello.elements[i + 1].text;
  return {};
}

// Versions that are not two numbers belong to other servers: accepted.
bool is_too_old(const std::string& version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto [dot, bad_major] = std::from_chars(version.data(), end, major);
  if (bad_major != std::errc() || dot == end || *dot != '.') return false;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return false;
  return major < 6 || (major == 6 && minor < 2);
}

bool read_number(const std::string& text, std::int64_t& number) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end;
}

}  // namespace

std::optional<ServerTime> parse_time(const Resp& reply) {
  constexpr std::int64_t kFarFuture = 1LL << 33;  // in seconds; far from any overflow
  std::int64_t seconds = 0;
  std::int64_t micros = 0;
  if (reply.elements.size() != 2 || !read_number(reply.elements[0].text, seconds) ||
      !read_number(reply.elements[1].text, micros))
    return std::nullopt;
  if (seconds < 0 || seconds > kFarFuture || micros < 0 || micros > 999'999) return std::nullopt;
  return ServerTime{seconds * 1'000'000 + micros};
}

void RedisSession::send_login() {
  login_sent_ = true;
  std::vector<std::string> hello = {"HELLO", "2"};
  if (!login_.user.empty() || !login_.password.empty()) {
    hello.push_back("AUTH");
    hello.push_back(login_.user.empty() ? "default" : login_.user);
    hello.push_back(login_.password.reveal());
  }
  connection_.write(encode_command(hello));
  expected_.push_back(Expected::hello);
  if (login_.db != 0) {
    connection_.write(encode_command({"SELECT", std::to_string(login_.db)}));
    expected_.push_back(Expected::select);
  }
  if (login_.role == ServerRole::sentinel) return;
  connection_.write(encode_command({"TIME"}));
  expected_.push_back(Expected::time);
  if (!login_.is_strict) return;
  // Before the first request: a grant that cannot be acknowledged would block the lock.
  connection_.write(encode_command({"WAIT", "0", "1"}));
  expected_.push_back(Expected::wait);
  connection_.write(encode_command({"INFO", "memory"}));
  expected_.push_back(Expected::memory);
}

void RedisSession::hello(const Resp& reply) {
  if (reply.type == Resp::Type::error) {
    // The text of this error contains the arguments, among them the password.
    if (reply.text.starts_with("ERR unknown command"))
      return fail(wrong_server(login_.where, "the server does not support HELLO",
                               std::string(kVersionHint) +
                                   "; check rename-command in the server's configuration"),
                  false);
    return refused(reply);
  }
  if (is_too_old(field_of(reply, "version")))
    return fail(wrong_server(login_.where,
                             "the server's version is " + quotable(field_of(reply, "version")),
                             kVersionHint),
                false);
  check_role(reply);
  if (login_.role == ServerRole::sentinel && !failure_) ready_ = true;
}

// HELLO contains the role that ROLE returns, and needs no further right and no further command.
void RedisSession::check_role(const Resp& hello) {
  const std::string mode = field_of(hello, "mode");
  const auto refuse = [this](const std::string& what, const std::string& hint) {
    fail(wrong_server(login_.where, what, hint), false);
  };
  if (login_.role == ServerRole::sentinel) {
    if (mode != "sentinel")
      refuse("the server is not a Sentinel", "list the Sentinels in store, or write redis://");
    return;
  }
  if (mode == "sentinel")
    return refuse(
        "the server is a Sentinel",
        "set store to redis+sentinel://HOST,HOST,HOST/MASTER, or to the Redis server that "
        "the Sentinel monitors");
  if (login_.role == ServerRole::node && mode != "cluster")
    return refuse("the server is not a node of a Redis Cluster", "write redis:// in store");
  if (login_.role == ServerRole::master && field_of(hello, "role") != "master") {
    mark_peer_failed();
    fail(redis_error(redis_error_row(RedisErrorClass::readonly), login_.where), true);
  }
}

void RedisSession::select(const Resp& reply) {
  if (reply.type != Resp::Type::error) return;
  const bool is_unknown = classify_redis_error(reply.text).kind == RedisErrorClass::unknown_command;
  if (reply.text.starts_with("ERR") && !is_unknown)
    return fail(
        wrong_server(login_.where, "the server has no database " + std::to_string(login_.db),
                     "a server has 16 databases by default, a Cluster only database 0"),
        false);
  refused(reply);
}

void RedisSession::time(const Resp& reply, TimePoint now) {
  if (reply.type == Resp::Type::error) return refused(reply);
  const auto server = parse_time(reply);
  if (!server) return fail_unreadable();
  set_server_time(*server, std::max(now, boot_now()));
  ready_ = !login_.is_strict;
}

void RedisSession::wait(const Resp& reply) {
  if (reply.type == Resp::Type::error) return refused(reply, "WAIT");
  if (reply.type != Resp::Type::integer) fail_unreadable();
}

// Redis 6.2 to 8 and Valkey show the policy; managed services may hide it.
void RedisSession::memory(const Resp& reply) {
  if (reply.type == Resp::Type::error) return refused(reply, "INFO");
  constexpr std::string_view kField = "maxmemory_policy:";
  const std::size_t at = reply.text.find(kField);
  ready_ = true;
  if (at == std::string::npos) {
    hides_policy_ = true;
    return;
  }
  const std::size_t start = at + kField.size();
  const std::string policy =
      reply.text.substr(start, reply.text.find_first_of("\r\n", start) - start);
  if (policy != "noeviction")
    fail(wrong_server(login_.where,
                      "maxmemory-policy is " + quotable(policy) +
                          ": a server that evicts keys can grant a lock twice (strict)",
                      "set maxmemory-policy to noeviction on the server"),
         false);
}

}  // namespace cronlatch::redis
