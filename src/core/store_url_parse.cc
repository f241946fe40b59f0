// SPDX-License-Identifier: Apache-2.0
// Parses scheme://[user@]host[:port][,...][/master][/db] from left to right (postgres_target.cc:
// what follows the user in postgres://). Error messages never contain the text before an '@', which
// can be a password.
#include "core/store_url.h"

#include <algorithm>
#include <charconv>

#include "base/host_port.h"

namespace cronlatch {
namespace {

constexpr int kMaxDb = 65'535;
constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint16_t kSentinelPort = 26'379;
constexpr std::size_t kMaxMasterName = 200;

Error url_error(std::string message) {
  return {Code::config, std::move(message), "write for example " + store_url_examples()};
}

Error quorum_error(std::string message) {
  return {
      Code::config, "a list of URLs is a quorum, and " + std::move(message),
      "write for example rediss://r1.example.com,rediss://r2.example.com,rediss://r3.example.com"};
}

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Status refuse_query(std::string_view rest) {
  if (rest.find_first_of("?#") == std::string_view::npos) return Done{};
  return url_error("the URL has a '?' or '#' part; set options by their own keys");
}

Result<StoreUrl> parse_path(std::string_view rest, StoreUrl url) {
  if (!rest.starts_with('/'))
    return url_error("the directory of a file:// URL must be absolute: write three slashes");
  if (const Status plain = refuse_query(rest); !plain) return plain.error();
  url.directory = rest;
  return url;
}

Status parse_db(std::string_view text, StoreUrl& url) {
  if (const Status plain = refuse_query(text); !plain) return plain;
  if (text.empty()) return Done{};
  if (!read_number(text, url.db) || url.db < 0 || url.db > kMaxDb)
    return url_error("the database number after the host must be 0 to 65535");
  return Done{};
}

bool contains_host(const std::vector<StoreHost>& hosts, const StoreHost& host) {
  return std::any_of(hosts.begin(), hosts.end(),
                     [&](const StoreHost& each) { return each.is_same_server(host); });
}

// The hosts of Sentinels, or of nodes of a Cluster.
Status parse_hosts(std::string_view text, StoreUrl& url) {
  const std::uint16_t port = url.layout == StoreLayout::sentinel ? kSentinelPort : kRedisPort;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    Result<HostPort> parsed = parse_host_port(text.substr(from, end - from));
    if (!parsed) return url_error(parsed.error().message);
    if (url.hosts.size() == kMaxStoreHosts)
      return url_error("the list has more than " + std::to_string(kMaxStoreHosts) + " hosts");
    StoreHost host{std::move(parsed->host), parsed->port.value_or(port)};
    if (contains_host(url.hosts, host)) return url_error("a host is listed twice");
    url.hosts.push_back(std::move(host));
    from = end + 1;
  }
  url.host = url.hosts.front().host;
  url.port = url.hosts.front().port;
  return Done{};
}

Status parse_host(std::string_view text, StoreUrl& url) {
  if (url.layout != StoreLayout::single) return parse_hosts(text, url);
  if (text.find(',') != std::string_view::npos)
    return url_error(std::string(url.scheme) + ":// has one host; a list of hosts needs " +
                     (url.transport == StoreTransport::tls
                          ? "rediss+sentinel:// or rediss+cluster://"
                          : "redis+sentinel:// or redis+cluster://"));
  Result<HostPort> parsed = parse_host_port(text);
  if (!parsed) return url_error(parsed.error().message);
  url.host = std::move(parsed->host);
  url.port = parsed->port.value_or(url.port);
  return Done{};
}

// The name of the master, and what follows it.
Status parse_master(std::string_view& path, StoreUrl& url) {
  const std::string_view name = path.substr(0, path.find_first_of("/?#"));
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  if (name.empty())
    return url_error("the name of the master after the hosts is missing, as in s1,s2,s3/mymaster");
  if (name.size() > kMaxMasterName || !std::all_of(name.begin(), name.end(), allowed))
    return url_error("the name of the master must be 1 to 200 of letters, digits, . - _");
  url.master = name;
  path.remove_prefix(name.size());
  if (path.starts_with('/')) path.remove_prefix(1);
  return Done{};
}

Status parse_user(std::string_view text, StoreUrl& url) {
  if (text.find(':') != std::string_view::npos)
    return Error{Code::config, "the URL contains a password, which other users can read",
                 "remove it and use password-file, credentials-dir or CRONLATCH_PASSWORD"};
  if (text.empty()) return url_error("the user name before '@' is empty");
  if (text.find('%') != std::string_view::npos)
    return url_error("the user name contains a '%'; set redis-username for such a name");
  url.user = text;
  return Done{};
}

Result<StoreUrl> parse_postgres(std::string_view rest, StoreUrl url) {
  Result<PostgresTarget> target = parse_postgres_target(rest);
  if (!target) return url_error(target.error().message);
  url.host = target->hosts.front().host;
  url.port = target->hosts.front().port;
  url.postgres = std::move(target).value();
  return url;
}

Result<StoreUrl> parse_server(std::string_view rest, StoreUrl url) {
  // A password can contain any character, slashes too: the last '@' of the whole rest ends it.
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    if (Status user = parse_user(rest.substr(0, at), url); !user) return user.error();
    rest.remove_prefix(at + 1);
  }
  if (url.transport == StoreTransport::unknown) return parse_postgres(rest, std::move(url));
  const std::size_t slash = rest.find_first_of("/?#");
  if (Status host = parse_host(rest.substr(0, slash), url); !host) return host.error();
  std::string_view path;
  if (slash != std::string_view::npos) path = rest.substr(rest[slash] == '/' ? slash + 1 : slash);
  if (url.layout == StoreLayout::sentinel)
    if (Status master = parse_master(path, url); !master) return master.error();
  if (Status db = parse_db(path, url); !db) return db.error();
  if (url.layout == StoreLayout::cluster && url.db != 0)
    return url_error("a Redis Cluster has only database 0; remove the number after the hosts");
  return url;
}

// redis://a,redis://b,redis://c: servers that differ only in host and port.
Result<StoreUrl> parse_quorum(std::string_view text) {
  std::vector<std::string_view> urls;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    urls.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  // Before any URL is parsed: the comma can be a part of a password, which no message may contain.
  for (const std::string_view url : urls)
    if (!url.starts_with("redis://") && !url.starts_with("rediss://"))
      return quorum_error("each of its URLs must begin with redis:// or rediss://");
  StoreUrl all;
  for (const std::string_view url : urls) {
    Result<StoreUrl> one = parse_store_url(url);
    if (!one) return one.error();
    const StoreHost host{one->host, one->port};
    if (all.hosts.empty()) all = *one;
    if (one->scheme != all.scheme || one->user != all.user || one->db != all.db)
      return quorum_error("its URLs must have the same scheme, user and database");
    if (contains_host(all.hosts, host))
      return quorum_error("the server " + host.where() + " is listed twice");
    all.hosts.push_back(host);
  }
  const std::size_t count = all.hosts.size();
  if (count != 3 && count != 5 && count != 7)
    return quorum_error("it has " + std::to_string(count) + " servers; set 3, 5 or 7");
  all.layout = StoreLayout::quorum;
  return all;
}

}  // namespace

Result<StoreUrl> parse_store_url(std::string_view text) {
  if (text.empty()) return url_error("the URL is empty");
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return url_error("the URL has no scheme");
  const StoreScheme* scheme = find_store_scheme(text);
  if (scheme == nullptr)
    return url_error("the scheme is not " +
                     list_store_schemes({StoreTransport::local, StoreTransport::plain,
                                         StoreTransport::tls, StoreTransport::unknown}));
  if (!scheme->is_supported)
    return Error{Code::config,
                 "the scheme " + std::string(scheme->name) + ":// is written postgres://",
                 "replace it by postgres://"};
  const std::string_view rest = text.substr(colon + 3);
  StoreUrl url;
  url.scheme = scheme->name;
  url.transport = scheme->transport;
  url.layout = scheme->layout;
  if (scheme->transport == StoreTransport::local) return parse_path(rest, std::move(url));
  if (is_url_list(text)) return parse_quorum(text);
  return parse_server(rest, std::move(url));
}

}  // namespace cronlatch
