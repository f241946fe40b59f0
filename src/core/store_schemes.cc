// SPDX-License-Identifier: Apache-2.0
#include "core/store_schemes.h"

#include <algorithm>
#include <array>
#include <vector>

namespace cronlatch {
namespace {

using T = StoreTransport;
using L = StoreLayout;

// clang-format off
constexpr std::array<StoreScheme, 9> kSchemes = {{
    // name, transport, layout, is_supported, syntax, example, description
    {"file", T::local, L::single, true, "file:///dir", "file:///run/cronlatch", "a directory of this host, with locks of its kernel"},
    {"redis", T::plain, L::single, true, "redis://[user@]host[:port][/db]", "redis://redis.example.com:6379/0", "one Redis server, without TLS"},
    {"rediss", T::tls, L::single, true, "rediss://[user@]host[:port][/db]", "rediss://user@redis.example.com", "one Redis server, with TLS"},
    {"redis+sentinel", T::plain, L::sentinel, true, "redis+sentinel://[user@]host[:port],.../master[/db]", "redis+sentinel://s1.example.com,s2.example.com,s3.example.com/mymaster", "the master that Redis Sentinels monitor, without TLS"},
    {"rediss+sentinel", T::tls, L::sentinel, true, "rediss+sentinel://[user@]host[:port],.../master[/db]", "rediss+sentinel://user@s1.example.com,s2.example.com,s3.example.com/mymaster", "the same, with TLS to Sentinels and master"},
    {"redis+cluster", T::plain, L::cluster, true, "redis+cluster://[user@]host[:port],...", "redis+cluster://n1.example.com,n2.example.com", "a Redis Cluster, without TLS"},
    {"rediss+cluster", T::tls, L::cluster, true, "rediss+cluster://[user@]host[:port],...", "rediss+cluster://user@n1.example.com,n2.example.com", "a Redis Cluster, with TLS to each node"},
    {"postgres", T::unknown, L::single, true, "postgres://user@host[:port][,host...]/database[?sslmode=MODE][&wake=poll]", "postgres://cronlatch@db.example.com/cronlatch", "a PostgreSQL server (13 or newer), with TLS"},
    {"postgresql", T::unknown, L::single, false, "", "", ""},
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

bool is_url_list(std::string_view url) {
  const std::size_t comma = url.find(',');
  return comma != std::string_view::npos && url.find("://", comma) != std::string_view::npos;
}

StoreLayout store_layout(std::string_view url) {
  if (is_url_list(url)) return StoreLayout::quorum;
  const StoreScheme* scheme = find_store_scheme(url);
  return scheme == nullptr ? StoreLayout::single : scheme->layout;
}

std::string list_store_schemes(std::initializer_list<StoreTransport> transports,
                               std::optional<StoreLayout> layout) {
  std::vector<std::string> names;
  for (const StoreScheme& scheme : kSchemes)
    if (scheme.is_supported && (!layout || scheme.layout == *layout) &&
        std::find(transports.begin(), transports.end(), scheme.transport) != transports.end())
      names.push_back(std::string(scheme.name) + "://");
  return join_with_or(names);
}

std::string store_url_examples() {
  std::vector<std::string> examples;
  for (const StoreScheme& scheme : kSchemes)
    if (scheme.is_supported &&
        (scheme.layout == L::single || scheme.transport == StoreTransport::tls))
      examples.emplace_back(scheme.example);
  return join_with_or(examples);
}

}  // namespace cronlatch
