// SPDX-License-Identifier: Apache-2.0
#include "core/store_schemes.h"

#include <algorithm>
#include <array>
#include <vector>

namespace cronlatch {
namespace {

using T = StoreTransport;

// clang-format off
constexpr std::array<StoreScheme, 9> kSchemes = {{
    // name, transport, is_supported, syntax, example, description
    {"file", T::local, true, "file:///dir", "file:///run/cronlatch", "a directory of this host, with locks of its kernel"},
    {"redis", T::plain, true, "redis://[user@]host[:port][/db]", "redis://redis.example.com:6379/0", "one Redis server, without TLS"},
    {"rediss", T::tls, true, "rediss://[user@]host[:port][/db]", "rediss://user@redis.example.com", "one Redis server, with TLS"},
    {"redis+sentinel", T::plain, false, "", "", ""},
    {"rediss+sentinel", T::tls, false, "", "", ""},
    {"redis+cluster", T::plain, false, "", "", ""},
    {"rediss+cluster", T::tls, false, "", "", ""},
    {"postgres", T::unknown, true, "postgres://user@host[:port][,host...]/database[?sslmode=MODE]", "postgres://cronlatch@db.example.com/cronlatch", "a PostgreSQL server (13 or newer), with TLS; [docs/postgres.md](../postgres.md)"},
    {"postgresql", T::unknown, false, "", "", ""},
}};
// clang-format on

std::string join_with_or(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 < items.size() ? ", " : " or ";
    text += items[i];
  }
  return text;
}

}  // namespace

std::span<const StoreScheme> store_schemes() { return kSchemes; }

const StoreScheme* find_store_scheme(std::string_view url) {
  const std::string_view name = url.substr(0, url.find(':'));
  const auto row = std::find_if(kSchemes.begin(), kSchemes.end(),
                                [name](const StoreScheme& scheme) { return scheme.name == name; });
  return row == kSchemes.end() ? nullptr : &*row;
}

StoreTransport store_transport(std::string_view url) {
  if (url.empty()) return StoreTransport::local;
  const StoreScheme* scheme = find_store_scheme(url);
  return scheme == nullptr ? StoreTransport::unknown : scheme->transport;
}

std::string list_store_schemes(std::initializer_list<StoreTransport> transports) {
  std::vector<std::string> names;
  for (const StoreScheme& scheme : kSchemes)
    if (scheme.is_supported &&
        std::find(transports.begin(), transports.end(), scheme.transport) != transports.end())
      names.push_back(std::string(scheme.name) + "://");
  return join_with_or(names);
}

std::string store_url_examples() {
  std::vector<std::string> examples;
  for (const StoreScheme& scheme : kSchemes)
    if (scheme.is_supported) examples.emplace_back(scheme.example);
  return join_with_or(examples);
}

}  // namespace cronlatch
