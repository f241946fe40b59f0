// SPDX-License-Identifier: Apache-2.0
// URL to backend, and nothing else.
#include "store/open.h"

#include "store/file/file_store.h"
#include "store/redis/redis_store.h"
#include "store/url.h"

namespace cronlatch {
namespace {

std::string without_final_dot(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

redis::TlsSettings tls_settings(const StoreSpec& spec, const StoreUrl& url) {
  redis::TlsSettings tls;
  tls.where = url.where();
  tls.name = spec.tls_server_name.empty() ? url.name() : without_final_dot(spec.tls_server_name);
  tls.ca = spec.tls_ca;
  tls.cert = spec.tls_cert;
  tls.key = spec.tls_key;
  tls.skip_verify = spec.tls_skip_verify;
  return tls;
}

std::string user_of(const StoreCredentials& credentials, const StoreUrl& url) {
  return credentials.username.empty() ? url.user : credentials.username;
}

CredentialSource source_of(const StoreSpec& spec, const StoreUrl& url) {
  return [spec, url]() -> Result<StoreCredentials> {
    Result<StoreCredentials> now =
        spec.credentials_now ? spec.credentials_now() : StoreCredentials(spec);
    if (now) now->username = user_of(*now, url);
    return now;
  };
}

Result<std::unique_ptr<Backend>> open_redis(const StoreSpec& spec, const StoreUrl& url) {
  if (spec.tls_cert.empty() != spec.tls_key.empty())
    return Error{Code::config,
                 spec.tls_cert.empty() ? "tls-key is set without tls-cert"
                                       : "tls-cert is set without tls-key",
                 "a client certificate needs both, or neither"};
  redis::RedisConfig config;
  config.host = url.host;
  config.port = url.port;
  config.login.where = url.where();
  config.login.user = user_of(spec, url);
  config.login.password = spec.password;
  config.login.db = url.db;
  if (url.tls) config.tls = tls_settings(spec, url);
  config.key_prefix = spec.key_prefix;
  config.credentials_now = source_of(spec, url);
  config.warn = spec.warn;
  return std::unique_ptr<Backend>(std::make_unique<redis::RedisStore>(std::move(config)));
}

}  // namespace

Result<std::unique_ptr<Backend>> open_store(const StoreSpec& spec) {
  const Result<StoreUrl> url = parse_store_url(spec.url);
  if (!url) return url.error();
  switch (url->kind) {
    case StoreUrl::Kind::file:
      return open_file_store(url->directory);
    case StoreUrl::Kind::redis:
      return open_redis(spec, *url);
  }
  return Error{Code::bug, "a kind of store that nobody opens"};
}

}  // namespace cronlatch
