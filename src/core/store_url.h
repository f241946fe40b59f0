// SPDX-License-Identifier: Apache-2.0
// The parts of a store URL. Text only: no name is resolved and nothing is contacted. A password in
// the URL is refused, because other users can read argv and logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/postgres_target.h"
#include "core/store_schemes.h"

namespace cronlatch {

struct StoreUrl {
  std::string_view scheme;  // StoreScheme::name
  StoreTransport transport = StoreTransport::local;
  std::string directory;  // StoreTransport::local only; the members below: all others
  std::string user;
  // As written: a trailing dot means "no search domains"; IPv6 without its brackets.
  std::string host;
  std::uint16_t port = 6379;
  int db = 0;
  std::optional<PostgresTarget> postgres{};  // postgres:// only; `host` is its first host

  // The host as in a certificate: without the trailing dot.
  std::string name() const;
  // host:port, or [host]:port for IPv6.
  std::string where() const;
  // The directory or host:port, which identifies the store in messages and metrics.
  std::string endpoint() const;
  bool operator==(const StoreUrl&) const = default;
};

// Differs for different stores; only for comparison. Scheme, host, port, database and key prefix,
// or the directory; not the user. Two names of one host are two stores.
std::string store_identity(const StoreUrl& url, std::string_view key_prefix);

// Code::config: the message names the wrong part, the hint contains a correct URL.
Result<StoreUrl> parse_store_url(std::string_view url);

}  // namespace cronlatch
