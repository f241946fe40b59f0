// SPDX-License-Identifier: Apache-2.0
#include "store/postgres/open_postgres.h"

#include <algorithm>
#include <optional>

#include "store/postgres/errors.h"
#include "store/postgres/postgres_store.h"

namespace cronlatch::postgres {
namespace {

std::string without_trailing_dot(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  return name;
}

Status check(const StoreSpec& spec, const StoreUrl& url) {
  if (spec.tls_cert.empty() != spec.tls_key.empty())
    return Error{Code::config,
                 spec.tls_cert.empty() ? "tls-key is set without tls-cert"
                                       : "tls-cert is set without tls-key",
                 "a client certificate needs both, or neither"};
  if (spec.username.empty() && url.user.empty())
    return Error{Code::config, "store: the postgres:// URL has no user",
                 "write for example postgres://cronlatch@db.example.com/cronlatch, or add the file "
                 "username to credentials-dir (in Kubernetes: the key username to the Secret)"};
  return Done{};
}

void warn_unverified(const StoreSpec& spec, SslMode mode) {
  if (!spec.warn || mode == SslMode::verify_full) return;
  if (mode == SslMode::require)
    return spec.warn({Level::warn,
                      "tls_unverified",
                      "sslmode=require in store: the server's certificate is not verified",
                      {},
                      "set tls-ca and remove sslmode"});
  spec.warn({Level::warn,
             "tls_disabled",
             "sslmode=disable in store: the connection is not encrypted, and locks can be read and "
             "changed in transit",
             {},
             "set tls-ca and remove sslmode"});
}

LinkConfig link_config(const StoreSpec& spec, const StoreUrl& url) {
  LinkConfig config;
  config.target = *url.postgres;
  config.user = spec.username.empty() ? url.user : spec.username;
  config.password = spec.password;
  config.tls.name = without_trailing_dot(spec.tls_server_name);
  config.tls.ca = spec.tls_ca;
  config.tls.cert = spec.tls_cert;
  config.tls.key = spec.tls_key;
  const SslMode mode = url.postgres->sslmode;
  config.tls.skip_verify = mode == SslMode::require || spec.tls_skip_verify;
  config.is_verified = mode == SslMode::verify_full && !spec.tls_skip_verify;
  // With the user of the URL where the credentials name none.
  config.credentials_now = [spec, user = url.user]() -> Result<StoreCredentials> {
    Result<StoreCredentials> now =
        spec.credentials_now ? spec.credentials_now() : StoreCredentials(spec);
    if (now && now->username.empty()) now->username = user;
    return now;
  };
  config.warn = spec.warn;
  return config;
}

}  // namespace

Result<std::unique_ptr<Backend>> open_postgres(const StoreSpec& spec, const StoreUrl& url) {
  if (Status checked = check(spec, url); !checked) return checked.error();
  warn_unverified(spec, url.postgres->sslmode);
  std::optional<std::size_t> standbys;
  if (spec.strict) standbys = std::max<std::size_t>(spec.strict->min_replicas, 1);
  return std::unique_ptr<Backend>(
      std::make_unique<PostgresStore>(link_config(spec, url), spec.key_prefix, standbys));
}

Result<std::string> create_schema(const StoreSpec& spec, TimePoint give_up) {
  const Result<StoreUrl> url = parse_store_url(spec.url);
  if (!url) return url.error();
  if (Status checked = check(spec, *url); !checked) return checked.error();
  warn_unverified(spec, url->postgres->sslmode);
  Link link(link_config(spec, *url), Purpose::schema);
  const auto answers = link.execute([] { return simple_query(schema_sql()); }, 1, give_up);
  if (!answers) return answers.error();
  if (const auto& error = answers->front().error) {
    Error reported = server_error(*error, link.where());
    if (reported.code == Code::acl)
      reported.hint =
          "connect as the owner of the database; a superuser can create the role cronlatch_user "
          "before";
    return reported;
  }
  return link.where();
}

}  // namespace cronlatch::postgres
