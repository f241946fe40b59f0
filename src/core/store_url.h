// SPDX-License-Identifier: Apache-2.0
// The parts of a store URL. Text only: no name is resolved and nothing is contacted. A password in
// the URL is refused, because other users can read argv and logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/postgres_target.h"
#include "core/store_schemes.h"

namespace cronlatch {

// A server as a URL or another server names it.
struct StoreHost {
  // As written: a trailing dot means "no search domains"; IPv6 without its brackets.
  std::string host;
  std::uint16_t port = 0;

  // The host as in a certificate: without the trailing dot.
  std::string name() const;
  // host:port, or [host]:port for IPv6.
  std::string where() const;
  // The same port, and the same name in another spelling: letter case, trailing dot.
  bool is_same_server(const StoreHost& other) const;
  bool operator==(const StoreHost&) const = default;
};

inline constexpr std::size_t kMaxStoreHosts = 32;

struct StoreUrl {
  std::string_view scheme;  // StoreScheme::name
  StoreTransport transport = StoreTransport::local;
  StoreLayout layout = StoreLayout::single;
  std::string directory;  // StoreTransport::local only; the members below: all others
  std::string user;
  // The server; with another layout the first of `hosts`.
  std::string host;
  std::uint16_t port = 6379;
  int db = 0;
  std::vector<StoreHost> hosts;  // of the Sentinels, nodes or URLs, in order; empty for one server
  std::string master;            // StoreLayout::sentinel: the name that the Sentinels monitor
  std::optional<PostgresTarget> postgres{};  // postgres:// only; `host` is its first host

  std::string name() const;   // as StoreHost::name()
  std::string where() const;  // as StoreHost::where()
  // The directory, host:port, or all hosts with the name of the master, which identifies the store
  // in messages and metrics.
  std::string endpoint() const;
  bool operator==(const StoreUrl&) const = default;
};

// Differs for different stores; only for comparison. Scheme, hosts in any order, ports, master,
// database and key prefix, or the directory; not the user. Two names of one host are two stores.
std::string store_identity(const StoreUrl& url, std::string_view key_prefix);

// Code::config: the message names the wrong part, the hint contains a correct URL.
Result<StoreUrl> parse_store_url(std::string_view url);

}  // namespace cronlatch
