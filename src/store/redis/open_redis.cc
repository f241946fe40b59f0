// SPDX-License-Identifier: Apache-2.0
#include "store/redis/open_redis.h"

#include "store/redis/cluster_store.h"
#include "store/redis/redis_store.h"
#include "store/redis/sentinel_route.h"

namespace cronlatch::redis {
namespace {

std::string without_trailing_dot(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

TlsSettings tls_settings(const StoreSpec& spec, const StoreUrl& url) {
  TlsSettings tls;
  tls.where = url.where();
  tls.name = spec.tls_server_name.empty() ? url.name() : without_trailing_dot(spec.tls_server_name);
  tls.ca = spec.tls_ca;
  tls.cert = spec.tls_cert;
  tls.key = spec.tls_key;
  tls.skip_verify = spec.tls_skip_verify;
  return tls;
}

std::string user_of(const StoreCredentials& credentials, const StoreUrl& url) {
  return credentials.username.empty() ? url.user : credentials.username;
}

// With the user of the URL where the credentials name none.
CredentialSource source_of(const StoreSpec& spec, const StoreUrl& url) {
  return [spec, url]() -> Result<StoreCredentials> {
    Result<StoreCredentials> now =
        spec.credentials_now ? spec.credentials_now() : StoreCredentials(spec);
    if (now) now->username = user_of(*now, url);
    return now;
  };
}

Result<RedisConfig> redis_config(const StoreSpec& spec, const StoreUrl& url) {
  if (spec.tls_cert.empty() != spec.tls_key.empty())
    return Error{Code::config,
                 spec.tls_cert.empty() ? "tls-key is set without tls-cert"
                                       : "tls-cert is set without tls-key",
                 "a client certificate needs both, or neither"};
  RedisConfig config;
  config.host = url.host;
  config.port = url.port;
  config.login.where = url.where();
  config.login.user = user_of(spec, url);
  config.login.password = spec.password;
  config.login.db = url.db;
  if (url.transport == StoreTransport::tls) config.tls = tls_settings(spec, url);
  config.key_prefix = spec.key_prefix;
  config.strict = spec.strict;
  config.credentials_now = source_of(spec, url);
  config.warn = spec.warn;
  return config;
}

Result<std::unique_ptr<RedisStore>> single_store(const StoreSpec& spec, const StoreUrl& url) {
  Result<RedisConfig> config = redis_config(spec, url);
  if (!config) return config.error();
  return std::make_unique<RedisStore>(std::move(config).value());
}

Result<std::unique_ptr<RedisStore>> sentinel_store(const StoreSpec& spec, const StoreUrl& url) {
  Result<RedisConfig> config = redis_config(spec, url);
  if (!config) return config.error();
  config->login.role = ServerRole::master;
  config->tls_server_name = without_trailing_dot(spec.tls_server_name);
  SentinelConfig sentinels{.sentinels = url.hosts,
                           .master = url.master,
                           .user = spec.sentinel_username,
                           .password = spec.sentinel_password,
                           .tls_server_name = config->tls_server_name,
                           .counts_replicas = spec.strict.has_value(),
                           .resolver = {}};
  auto route = std::make_unique<SentinelRoute>(std::move(sentinels), config->tls);
  return std::make_unique<RedisStore>(std::move(config).value(), std::move(route));
}

Result<std::unique_ptr<Backend>> as_backend(Result<std::unique_ptr<RedisStore>> store) {
  if (!store) return store.error();
  return std::unique_ptr<Backend>(std::move(store).value());
}

}  // namespace

Result<std::unique_ptr<Backend>> open_redis(const StoreSpec& spec, const StoreUrl& url) {
  return as_backend(single_store(spec, url));
}

Result<std::unique_ptr<Backend>> open_sentinel(const StoreSpec& spec, const StoreUrl& url) {
  return as_backend(sentinel_store(spec, url));
}

Result<std::string> create_epoch(const StoreSpec& spec, const StoreUrl& url, TimePoint give_up) {
  auto store =
      url.layout == StoreLayout::sentinel ? sentinel_store(spec, url) : single_store(spec, url);
  if (!store) return store.error();
  const Result<EpochState> state = (*store)->create_epoch(give_up);
  if (!state) return state.error();
  const std::string start = "the store at " + url.endpoint();
  const std::string key = epoch_key(spec.key_prefix);
  switch (*state) {
    case EpochState::created:
      return start + " is ready: the first epoch is recorded (" + key + ")";
    case EpochState::present:
      return start + " is ready: it has an epoch (" + key + "); nothing was changed";
    case EpochState::other_history:
      return start + " has an epoch of an earlier replication history (" + key +
             "); strict runs start after a quarantine; nothing was changed";
  }
  return start;
}

Result<std::unique_ptr<Backend>> open_cluster(const StoreSpec& spec, const StoreUrl& url) {
  Result<RedisConfig> config = redis_config(spec, url);
  if (!config) return config.error();
  config->tls_server_name = without_trailing_dot(spec.tls_server_name);
  return std::unique_ptr<Backend>(
      std::make_unique<ClusterStore>(std::move(config).value(), url.hosts));
}

}  // namespace cronlatch::redis
