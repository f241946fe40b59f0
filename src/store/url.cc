// SPDX-License-Identifier: Apache-2.0
// scheme://[user@]host[:port][/db], read from left to right. Error messages never repeat what
// stands before an '@'.
#include "store/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace cronlatch {
namespace {

constexpr std::string_view kExamples =
    "for example redis://redis.example.com:6379/0, rediss://user@redis.example.com, "
    "redis://[fd00::1]:6379, file:///run/cronlatch";
constexpr int kMaxDb = 65'535;

Error wrong(std::string message) {
  return {Code::config, "store: " + std::move(message), std::string(kExamples)};
}

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_ipv6(const std::string& text) {
  in6_addr address;
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_host_name(std::string_view host) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return host.size() <= 254 && host.front() != '.' && host.find("..") == std::string_view::npos &&
         std::all_of(host.begin(), host.end(), allowed);
}

Result<StoreUrl> parse_file(std::string_view rest) {
  if (!rest.starts_with('/'))
    return wrong("the directory of a file:// URL must be absolute: three slashes");
  StoreUrl url;
  url.kind = StoreUrl::Kind::file;
  url.directory = rest;
  return url;
}

Status parse_db(std::string_view text, StoreUrl& url) {
  if (text.find_first_of("?#") != std::string_view::npos)
    return wrong("the URL has a '?' or '#' part; options are given by their own keys");
  if (text.empty()) return Done{};
  if (!read_number(text, url.db) || url.db < 0 || url.db > kMaxDb)
    return wrong("the database number after the host must be 0 to 65535");
  return Done{};
}

Status parse_port(std::string_view text, StoreUrl& url) {
  if (!read_number(text, url.port) || url.port == 0)
    return wrong("the port must be 1 to 65535, in digits");
  return Done{};
}

Status parse_bracketed(std::string_view text, StoreUrl& url) {
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return wrong("the ']' after the IPv6 address is missing");
  url.host = text.substr(1, close - 1);
  if (!is_ipv6(url.host)) return wrong("what stands in brackets is not an IPv6 address");
  const std::string_view after = text.substr(close + 1);
  if (after.empty()) return Done{};
  if (after.front() != ':') return wrong("only :port may follow the ']'");
  return parse_port(after.substr(1), url);
}

Status parse_host_port(std::string_view text, StoreUrl& url) {
  if (text.empty()) return wrong("the host is missing");
  if (text.find(',') != std::string_view::npos)
    return wrong("a list of hosts is not supported by this version");
  if (text.front() == '[') return parse_bracketed(text, url);
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos)
    return wrong("an IPv6 address must stand in brackets");
  url.host = text.substr(0, colon);
  if (url.host.empty()) return wrong("the host is missing");
  if (!is_host_name(url.host)) return wrong("the host has a character that no host name has");
  if (colon == std::string_view::npos) return Done{};
  return parse_port(text.substr(colon + 1), url);
}

Status parse_user(std::string_view text, StoreUrl& url) {
  if (text.find(':') != std::string_view::npos)
    return Error{Code::config, "store: the URL holds a password, which others can read",
                 "take it out and use password-file, credentials-dir or CRONLATCH_PASSWORD"};
  if (text.empty()) return wrong("the user name before '@' is empty");
  if (text.find('%') != std::string_view::npos)
    return wrong("the user name has a '%'; set redis-username for unusual names");
  url.user = text;
  return Done{};
}

Result<StoreUrl> parse_redis(std::string_view rest, bool tls) {
  StoreUrl url;
  url.kind = StoreUrl::Kind::redis;
  url.tls = tls;
  // A password may hold anything, slashes too: the last '@' is looked for in the whole rest.
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    if (Status user = parse_user(rest.substr(0, at), url); !user) return user.error();
    rest.remove_prefix(at + 1);
  }
  const std::size_t slash = rest.find_first_of("/?#");
  if (Status host = parse_host_port(rest.substr(0, slash), url); !host) return host.error();
  if (slash == std::string_view::npos) return url;
  const std::string_view path = rest.substr(rest[slash] == '/' ? slash + 1 : slash);
  if (Status db = parse_db(path, url); !db) return db.error();
  return url;
}

// Words of the URL's contract that a later version will understand.
bool is_planned(std::string_view scheme) {
  constexpr std::array<std::string_view, 6> kPlanned = {"redis+sentinel", "rediss+sentinel",
                                                        "redis+cluster",  "rediss+cluster",
                                                        "postgres",       "postgresql"};
  return std::find(kPlanned.begin(), kPlanned.end(), scheme) != kPlanned.end();
}

}  // namespace

std::string StoreUrl::name() const {
  return host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
}

std::string StoreUrl::where() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string store_identity(const StoreUrl& url, std::string_view key_prefix) {
  if (url.kind == StoreUrl::Kind::file) {
    std::string directory = url.directory;
    while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    return "file://" + directory;
  }
  std::string host = url.name();
  for (char& c : host)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return (url.tls ? "rediss://" : "redis://") + host + ' ' + std::to_string(url.port) + ' ' +
         std::to_string(url.db) + ' ' + std::string(key_prefix);
}

Result<StoreUrl> parse_store_url(std::string_view text) {
  if (text.empty()) return wrong("the URL is empty");
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return wrong("the URL has no scheme");
  const std::string_view scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 3);
  if (is_planned(scheme))
    return wrong(std::string(scheme) + ":// is not supported by this version");
  if (scheme == "file") return parse_file(rest);
  if (const std::size_t comma = rest.find(',');
      comma != std::string_view::npos && rest.find("://", comma) != std::string_view::npos)
    return wrong("a list of URLs is not supported by this version");
  if (scheme == "redis") return parse_redis(rest, false);
  if (scheme == "rediss") return parse_redis(rest, true);
  return wrong("the scheme is none of file://, redis://, rediss://");
}

}  // namespace cronlatch
