// SPDX-License-Identifier: Apache-2.0
#include "operator/store_access.h"

#include <array>
#include <functional>

#include "config/credentials.h"
#include "core/store_url.h"
#include "options/options.h"

namespace cronlatch::op {
namespace {

// Options of the store that apply to the gated runs and to the operator.
constexpr std::array<std::string_view, 8> kStoreOptions = {
    "tls-server-name",   "tls-skip-verify", "key-prefix",   "redis-username",
    "sentinel-username", "strict",          "min-replicas", "max-ttl"};

Options options_of(const Settings& settings, const Files& files) {
  Options options;
  for (const std::string_view key : kStoreOptions)
    if (const auto given = settings.defaults.find(std::string(key));
        given != settings.defaults.end())
      (void)apply_text(options, *find_option(key), given->second)
          .ok();  // validated when the settings were read
  options.store = settings.store;
  // Outside of a pod, its default does not exist.
  if (files.exists(settings.credentials_dir + "/."))
    options.credentials_dir = settings.credentials_dir;
  // A user name in the credentials directory replaces the one of the runs.
  if (files.exists(settings.credentials_dir + "/username")) options.redis_username.clear();
  if (files.exists(settings.credentials_dir + "/sentinel-username"))
    options.sentinel_username.clear();
  return options;
}

std::size_t stamp_of(const Settings& settings, const Files& files) {
  std::string all;
  for (const char* name : {"username", "password", "sentinel-username", "sentinel-password",
                           "ca.crt", "tls.crt", "tls.key"})
    all += files.read(settings.credentials_dir + "/" + name).text + '\0';
  return std::hash<std::string>()(all);
}

}  // namespace

Result<StoreAccess> read_store_access(const Settings& settings, const Files& files) {
  StoreAccess access;
  // The stamp first: a file replaced during the read then differs from the stamp at the next read.
  access.stamp = stamp_of(settings, files);
  Options options = options_of(settings, files);
  Result<Credentials> found = find_credentials(options, std::nullopt, files);
  if (!found) return found.error();
  access.spec.url = options.store;
  access.spec.username = options.redis_username;
  access.spec.password = found->password;
  access.spec.sentinel_username = options.sentinel_username;
  access.spec.sentinel_password = found->sentinel_password;
  access.spec.tls_ca = options.tls_ca;
  access.spec.tls_cert = options.tls_cert;
  access.spec.tls_key = options.tls_key;
  access.spec.tls_server_name = options.tls_server_name;
  access.spec.tls_skip_verify = options.tls_skip_verify;
  access.spec.key_prefix = options.key_prefix;
  access.spec.max_ttl = options.max_ttl;
  access.spec.strict = strict_settings(options);
  return access;
}

std::string store_endpoint(const Settings& settings) {
  const Result<StoreUrl> url = parse_store_url(settings.store);
  if (settings.store.empty() || !url) return "";
  if (!url->postgres) return url->endpoint();
  std::string all;
  for (const PostgresTarget::Host& each : url->postgres->hosts)
    all += (all.empty() ? "" : ",") + StoreHost{each.host, each.port}.where();
  return all;
}

std::optional<LogLine> store_warning(const Settings& settings) {
  const Result<StoreUrl> url = parse_store_url(settings.store);
  if (!url || !url->postgres || url->postgres->sslmode == SslMode::verify_full) return std::nullopt;
  const bool has_tls = url->postgres->sslmode == SslMode::require;
  return LogLine{
      Level::warn,
      has_tls ? "tls_unverified" : "tls_disabled",
      has_tls ? "sslmode=require in store: the server's certificate is not verified, so "
                "another server in the network path can impersonate the store"
              : "sslmode=disable in store: the connection is not encrypted, and locks "
                "can be read and changed in transit",
      {},
      "add ca.crt to the Secrets of the store, and remove sslmode from the chart's value "
      "store.url"};
}

}  // namespace cronlatch::op
