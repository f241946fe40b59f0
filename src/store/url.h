// SPDX-License-Identifier: Apache-2.0
// The URL of a store, taken apart. Pure text: nothing is resolved or contacted, and a password in
// it is refused because argv and logs are read by others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch {

struct StoreUrl {
  enum class Kind { file, redis };
  Kind kind = Kind::file;
  std::string directory;  // file
  bool tls = false;       // redis: rediss://
  std::string user;
  std::string
      host;  // as written: a trailing dot means "no search domains"; IPv6 without its brackets
  std::uint16_t port = 6379;
  int db = 0;

  // The host as certificates know it: without the trailing dot.
  std::string name() const;
  // host:port for people; [host]:port for IPv6.
  std::string where() const;
  bool operator==(const StoreUrl&) const = default;
};

// What tells one store from another, for comparing alone: scheme, host, port, database and key
// prefix, or the directory; no user. Two names of one host are two stores.
std::string store_identity(const StoreUrl& url, std::string_view key_prefix);

// Code::config naming the wrong part and showing a URL that is right.
Result<StoreUrl> parse_store_url(std::string_view url);

}  // namespace cronlatch
