// SPDX-License-Identifier: Apache-2.0
// The rules for the text of single options (names, URLs), and for combinations of options.
#include <algorithm>

#include "base/duration.h"
#include "base/text.h"
#include "core/lock_file.h"
#include "core/shared_key.h"
#include "core/store_schemes.h"
#include "core/store_url.h"
#include "options/options.h"

namespace cronlatch {
namespace {

bool is_control_or_blank(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; }

Status refuse(std::string message, std::string hint) {
  return Error{Code::config, std::move(message), std::move(hint)};
}

Status check_tls(const Options& options) {
  if (!options.tls_cert.empty() && options.tls_key.empty())
    return refuse("tls-cert is set without tls-key", "set tls-key, too");
  if (!options.tls_key.empty() && options.tls_cert.empty())
    return refuse("tls-key is set without tls-cert", "set tls-cert, too");
  const StoreTransport transport = store_transport(options.store);
  if (transport == StoreTransport::tls || transport == StoreTransport::unknown) return Done{};
  // They are also those of the Pushgateway.
  if (options.metrics_push.starts_with("https:") && options.tls_server_name.empty()) return Done{};
  const std::string hint =
      "set store to a " + list_store_schemes({StoreTransport::tls}) + " URL or remove the option";
  const char* set = !options.tls_ca.empty()            ? "tls-ca"
                    : !options.tls_cert.empty()        ? "tls-cert"
                    : !options.tls_server_name.empty() ? "tls-server-name"
                    : options.tls_skip_verify          ? "tls-skip-verify"
                                                       : nullptr;
  if (set != nullptr) return refuse(std::string(set) + ": the store does not use TLS", hint);
  return Done{};
}

Status check_sentinels(const Options& options) {
  if (store_layout(options.store) == StoreLayout::sentinel) return Done{};
  const std::string hint =
      "set store to a " +
      list_store_schemes({StoreTransport::plain, StoreTransport::tls}, StoreLayout::sentinel) +
      " URL or remove the option";
  if (!options.sentinel_username.empty())
    return refuse("sentinel-username: the store has no Sentinels", hint);
  if (!options.sentinel_password_file.empty())
    return refuse("sentinel-password-file: the store has no Sentinels", hint);
  return Done{};
}

bool is_postgres(std::string_view url) {
  const StoreScheme* scheme = find_store_scheme(url);
  return scheme != nullptr && scheme->name == "postgres";
}

// PostgreSQL has no quarantine: no time depends on the longest lease.
Status check_max_ttl(const Options& options) {
  const bool is_limited = (options.strict && !is_postgres(options.store)) ||
                          store_layout(options.store) == StoreLayout::quorum;
  if (!is_limited || options.ttl <= options.max_ttl) return Done{};
  return refuse("ttl: " + show_duration(options.ttl) + " is above max-ttl, which is " +
                    show_duration(options.max_ttl),
                "lower ttl, or raise max-ttl in every run with this key-prefix");
}

Status check_login(const Options& options) {
  if (store_transport(options.store) != StoreTransport::local) return Done{};
  const std::string hint =
      "set store to a " +
      list_store_schemes({StoreTransport::plain, StoreTransport::tls, StoreTransport::unknown}) +
      " URL or remove the option";
  if (!options.redis_username.empty())
    return refuse("redis-username: a file store has no users", hint);
  if (!options.password_file.empty())
    return refuse("password-file: a file store has no passwords", hint);
  return Done{};
}

// The stores that can be strict: one Redis, the master of Sentinels, and PostgreSQL.
Status check_strict_store(const Options& options) {
  const StoreScheme* const scheme = find_store_scheme(options.store);
  const bool is_redis = scheme != nullptr && (scheme->transport == StoreTransport::plain ||
                                              scheme->transport == StoreTransport::tls);
  const StoreLayout layout = store_layout(options.store);
  if (is_redis && layout != StoreLayout::cluster && layout != StoreLayout::quorum) return Done{};
  if (is_postgres(options.store)) return Done{};
  const std::string name = scheme == nullptr ? "a file store"
                           : layout == StoreLayout::quorum
                               ? "a quorum"
                               : "a " + std::string(scheme->name) + ":// store";
  return refuse("strict: " + name + " cannot be strict",
                "set store to a redis://, rediss://, redis+sentinel://, rediss+sentinel:// or "
                "postgres:// URL, or remove strict");
}

Status check_strict(const Options& options) {
  if (!options.strict) {
    if (options.min_replicas == 0) return Done{};
    return refuse("min-replicas is set without strict", "set strict, too");
  }
  if (Status store = check_strict_store(options); !store) return store;
  if (store_layout(options.store) != StoreLayout::sentinel || options.min_replicas > 0)
    return Done{};
  return refuse("strict: min-replicas is 0, and the Sentinels can promote a replica",
                "set min-replicas to the number of all replicas");
}

Status check_lock_file_alone(const Options& options) {
  if (options.lock_file.empty()) return Done{};
  if (!options.lock.empty() && options.lock != lock_of_file(options.lock_file))
    return refuse("lock and lock-file exclude each other: the file is the lock",
                  "remove one of the two");
  const StoreTransport transport = store_transport(options.store);
  if (options.store.empty() || transport == StoreTransport::local ||
      transport == StoreTransport::unknown)
    return Done{};
  return refuse("lock-file: the store is not a file store",
                "set store to a " + list_store_schemes({StoreTransport::local}) +
                    " URL, or replace lock-file by lock");
}

// Of a URL that is not displayed, because it is not valid.
std::string_view scheme_of(std::string_view url) {
  const StoreScheme* const scheme = find_store_scheme(url);
  return scheme == nullptr ? "redis" : scheme->name;
}

bool is_redis(std::string_view url) {
  const StoreScheme* scheme = find_store_scheme(url);
  return scheme != nullptr && scheme->name.starts_with("redis");
}

// A quorum has one holder, and the key or the file of another program has one owner.
Status check_slots(const Options& options) {
  if (options.slots == 1) return Done{};
  const std::string above = "slots: " + std::to_string(options.slots) + " is above 1, and ";
  if (store_layout(options.store) == StoreLayout::quorum)
    return refuse(above + "a quorum has one slot",
                  "set store to one redis://, redis+sentinel://, redis+cluster://, postgres:// or "
                  "file:// URL, or remove slots");
  if (!options.lock_file.empty() || file_of_lock(options.lock))
    return refuse(above + "a lock-file has one holder",
                  "remove slots, or replace lock-file by lock");
  if (options.key_format != KeyFormat::native || shared_key_of_lock(options.lock))
    return refuse(above + "a key of another program has one holder",
                  "remove slots, or replace key-format and foreign-key by lock");
  return Done{};
}

// The name of a lock can also be that of a key of another program.
Status check_shared_store(const Options& options, std::string_view what, KeyFormat format) {
  if (format != KeyFormat::redlock && store_layout(options.store) == StoreLayout::quorum)
    return refuse(std::string(what) + ": only redlock libraries lock on a quorum of servers",
                  "set store to the one server of the other program, or set lock to a name that "
                  "does not begin with _cronlock/, without key-format and foreign-key");
  if (options.strict)
    return refuse(std::string(what) + " and strict exclude each other", "remove one of the two");
  return Done{};
}

Status check_shared_key(const Options& options) {
  const bool is_native = options.key_format == KeyFormat::native;
  const std::string hint = "set store to a " +
                           list_store_schemes({StoreTransport::plain, StoreTransport::tls}) +
                           " URL, or replace key-format and foreign-key by lock";
  if (is_native && !options.foreign_key.empty())
    return refuse("foreign-key is set without key-format",
                  "set key-format to cronlock, golock or redlock");
  if (!is_native && options.foreign_key.empty())
    return refuse("key-format is set without foreign-key",
                  "set foreign-key to the key of the other program");
  if (!is_native && !is_redis(options.store))
    return refuse("key-format: the store is not a Redis store", hint);
  if (!is_native)
    if (Status store = check_shared_store(options, "key-format", options.key_format); !store)
      return store;
  if (!is_native && !options.lock_file.empty())
    return refuse("key-format and lock-file exclude each other", "remove one of the two");
  if (!is_native && !options.lock.empty() &&
      options.lock != lock_of_shared_key(options.key_format, options.foreign_key))
    return refuse("lock and foreign-key exclude each other: the key is the lock",
                  "remove one of the two");
  const std::optional<SharedKey> named = shared_key_of_lock(options.lock);
  if (!named) return Done{};
  const std::string what = "lock " + quoted(options.lock);
  if (!is_redis(options.store)) return refuse(what + ": the store is not a Redis store", hint);
  return check_shared_store(options, what, named->format);
}

}  // namespace

Status check_store_url(std::string_view url) {
  if (url.empty())
    return Error{Code::usage, "the store's URL is empty",
                 "remove the option to use the file store"};
  // The URL is never displayed, because any invalid URL may contain a password.
  for (std::size_t at = url.find('@'); at != std::string_view::npos; at = url.find('@', at + 1)) {
    const std::size_t scheme = url.rfind("://", at);
    if (url.starts_with("file:") || scheme == std::string_view::npos) continue;
    if (url.substr(scheme + 3, at - scheme - 3).find(':') != std::string_view::npos)
      return Error{Code::usage,
                   "the store's URL contains a password, which `ps` and logs would display",
                   "write " + std::string(scheme_of(url)) +
                       "://user@host and set password-file or CRONLATCH_PASSWORD"};
  }
  if (std::any_of(url.begin(), url.end(), is_control_or_blank))
    return Error{Code::usage, "the store's URL has a blank or a control character",
                 "write for example " + store_url_examples()};
  if (url.find(':') == std::string_view::npos)
    return Error{Code::usage, "the store's URL has no scheme",
                 "write for example " + store_url_examples()};
  if (const auto parsed = parse_store_url(url); !parsed) return parsed.error();
  return Done{};
}

Status check_key_prefix(std::string_view prefix) {
  const auto allowed = [](char c) { return c > 0x20 && c < 0x7F && c != '{' && c != '}'; };
  if (!prefix.empty() && std::all_of(prefix.begin(), prefix.end(), allowed)) return Done{};
  return Error{Code::usage, quoted(prefix) + " cannot begin the name of a key",
               "1 to 100 printable ASCII characters without blanks and braces"};
}

Status validate(const Options& options) {
  const Result<Timings> timings =
      plan_timings({options.ttl, options.renew_every, options.op_timeout, options.kill_after});
  if (!timings) return timings.error();
  if (Status tls = check_tls(options); !tls) return tls;
  if (Status login = check_login(options); !login) return login;
  if (Status file = check_lock_file_alone(options); !file) return file;
  if (Status key = check_shared_key(options); !key) return key;
  if (Status slots = check_slots(options); !slots) return slots;
  if (Status sentinels = check_sentinels(options); !sentinels) return sentinels;
  if (Status strict = check_strict(options); !strict) return strict;
  if (Status ttl = check_max_ttl(options); !ttl) return ttl;
  if (options.isolated && !options.config.empty())
    return refuse("config and isolated exclude each other", "remove one of the two");
  return Done{};
}

std::optional<StrictSettings> strict_settings(const Options& options) {
  if (!options.strict) return std::nullopt;
  return StrictSettings{static_cast<std::size_t>(options.min_replicas),
                        is_postgres(options.store) ? kMaxTtl : options.max_ttl};
}

}  // namespace cronlatch
