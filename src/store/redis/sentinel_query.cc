// SPDX-License-Identifier: Apache-2.0
#include "store/redis/sentinel_query.h"

#include "store/redis/node_name.h"

namespace cronlatch::redis {
namespace {

RedisLogin login_of(const SentinelConfig& config, const StoreHost& sentinel) {
  RedisLogin login;
  login.where = sentinel.where();
  login.user = config.user;
  login.password = config.password;
  login.role = ServerRole::sentinel;
  login.tls_peer =
      TlsPeer{sentinel.where(),
              config.tls_server_name.empty() ? sentinel.name() : config.tls_server_name, ""};
  return login;
}

}  // namespace

SentinelQuery::SentinelQuery(const SentinelConfig& config, const StoreHost& sentinel,
                             TlsContext* tls, TimePoint now)
    : config_(config),
      login_(login_of(config, sentinel)),
      resolver_(sentinel.host, sentinel.port, config.resolver),
      session_(resolver_, failed_, tls, login_, now) {}

std::optional<SentinelQuery::Answer> SentinelQuery::step(const PollSet& set, TimePoint now) {
  session_.step(set, now);
  if (session_.is_ready() && !is_sent_) {
    is_sent_ = true;
    session_.send({"SENTINEL", "get-master-addr-by-name", config_.master},
                  RedisSession::OnAnswer::keep);
    if (config_.counts_replicas)
      session_.send({"SENTINEL", "replicas", config_.master}, RedisSession::OnAnswer::keep);
    session_.flush();
  }
  while (is_sent_) {
    const auto answer = session_.take();
    if (!answer) break;
    if (!master_) {
      const Answer named = answer_of(*answer);
      const auto* const master = std::get_if<NamedMaster>(&named);
      if (master == nullptr || !config_.counts_replicas) return named;
      master_ = master->host;
    } else {
      if (answer->type != Resp::Type::array) return failure_of(*answer);
      return NamedMaster{*master_, answer->elements.size()};
    }
  }
  if (!session_.failure()) return std::nullopt;
  return Failure{of_sentinel(session_.failure()->error), session_.failure()->transient};
}

SentinelQuery::Answer SentinelQuery::answer_of(const Resp& answer) const {
  if (answer.type == Resp::Type::nil) return UnknownMaster{};
  if (answer.type == Resp::Type::error) return failure_of(answer);
  if (const auto master = parse_master(answer)) return NamedMaster{*master};
  return Failure{
      {Code::unreachable, "sentinel at " + login_.where + ": the answer is no address of a master",
       "check that a Redis Sentinel listens on this port"},
      true};
}

Failure SentinelQuery::failure_of(const Resp& answer) const {
  const RedisErrorRow& row = classify_redis_error(answer.text);
  return {of_sentinel(
              redis_error(row, login_.where,
                          with_refused_command(session_.redact(answer.text),
                                               master_ ? "SENTINEL replicas" : "SENTINEL", ""))),
          row.transient};
}

Error SentinelQuery::timeout_error() const { return of_sentinel(session_.timeout_error()); }

// The options of a Sentinel are not those of the store.
Error SentinelQuery::of_sentinel(Error error) const {
  constexpr std::string_view kServer = "redis at ";
  if (error.message.starts_with(kServer)) error.message.replace(0, kServer.size(), "sentinel at ");
  if (error.code == Code::auth)
    error.hint =
        "set sentinel-username and sentinel-password-file, or the files "
        "sentinel-username and sentinel-password in credentials-dir";
  if (error.code == Code::acl)
    error.hint = "grant the user of the Sentinel +hello +auth +sentinel|get-master-addr-by-name" +
                 std::string(config_.counts_replicas ? " +sentinel|replicas" : "");
  return error;
}

}  // namespace cronlatch::redis
