// SPDX-License-Identifier: Apache-2.0
// The part of a postgres:// URL after the user:
// host[:port][,host...]/database[?sslmode=MODE][&wake=poll]. Text only: no name is resolved and
// nothing is contacted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cronlatch {

// The modes of libpq that cronlatch has. The others (allow, prefer, verify-ca) are refused: an
// attacker could choose the weaker side of each.
enum class SslMode {
  verify_full,  // TLS; the certificate is verified, with its name. The default
  require,      // TLS; the certificate is not verified
  disable,      // no TLS
};

// How a run that waits notices a release before its next request.
enum class WakeMode {
  listen,  // LISTEN on its connection
  poll,    // not at all: a pooler in transaction mode shares the connection
};

struct PostgresTarget {
  struct Host {
    std::string host;  // as written; IPv6 without its brackets
    std::uint16_t port = 5432;
    bool operator==(const Host&) const = default;
  };
  std::vector<Host> hosts{};  // at least one, at most kMaxHosts
  std::string database{};
  SslMode sslmode = SslMode::verify_full;
  WakeMode wake = WakeMode::listen;
  bool operator==(const PostgresTarget&) const = default;
};

inline constexpr std::size_t kMaxPostgresHosts = 8;

// The message names the wrong part; it is one line and does not begin with "store:".
Result<PostgresTarget> parse_postgres_target(std::string_view text);
// The same text again, with the options only where they are not the default.
std::string show_postgres_target(const PostgresTarget& target);

}  // namespace cronlatch
