// SPDX-License-Identifier: Apache-2.0
#include "image/registry_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/host_port.h"
#include "base/text.h"

namespace cronlatch::image {
namespace {

constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kHttp = 80;

Error refused(std::string what, std::string fix) {
  return {Code::config, std::move(what), std::move(fix)};
}

bool is_literal(const std::string& host) {
  in_addr ipv4{};
  in6_addr ipv6{};
  if (inet_pton(AF_INET, host.c_str(), &ipv4) == 1 || inet_pton(AF_INET6, host.c_str(), &ipv6) == 1)
    return true;
  // getaddrinfo(3) accepts "127.1", "0x7f000001" and "2130706433" as addresses, too.
  return inet_aton(host.c_str(), &ipv4) == 1;
}

// Names with a meaning only on this host, in this cluster or in a private network.
bool is_internal(std::string_view host) {
  while (host.ends_with('.')) host.remove_suffix(1);
  constexpr std::array<std::string_view, 11> kSuffixes = {
      "localhost", "local", "localdomain", "internal", "intranet",    "lan",
      "home.arpa", "svc",   "corp",        "home",     "in-addr.arpa"};
  for (const std::string_view suffix : kSuffixes)
    if (host == suffix || (host.ends_with(suffix) && host[host.size() - suffix.size() - 1] == '.'))
      return true;
  return host.find('.') == std::string_view::npos || host.find(".svc.") != std::string_view::npos;
}

struct IpRange {
  std::uint32_t base;
  int bits;
};
// RFC 6890 and its successors.
constexpr std::array<IpRange, 15> kNotPublic = {{{0x00000000, 8},
                                                 {0x0A000000, 8},
                                                 {0x64400000, 10},
                                                 {0x7F000000, 8},
                                                 {0xA9FE0000, 16},
                                                 {0xAC100000, 12},
                                                 {0xC0000000, 24},
                                                 {0xC0000200, 24},
                                                 {0xC0586300, 24},
                                                 {0xC0A80000, 16},
                                                 {0xC6120000, 15},
                                                 {0xC6336400, 24},
                                                 {0xCB007100, 24},
                                                 {0xE0000000, 4},
                                                 {0xF0000000, 4}}};

bool is_public(std::uint32_t ipv4) {
  return std::none_of(kNotPublic.begin(), kNotPublic.end(), [&](const IpRange& range) {
    return (ipv4 ^ range.base) >> (32 - range.bits) == 0;
  });
}

bool is_public(const in6_addr& ipv6) {
  const auto* const byte = ipv6.s6_addr;
  const auto starts = [&](std::initializer_list<unsigned char> with) {
    return std::equal(with.begin(), with.end(), byte);
  };
  // The last four bytes are an IPv4 address, also for NAT64 (RFC 6052).
  if (IN6_IS_ADDR_V4MAPPED(&ipv6) || starts({0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) {
    std::uint32_t ipv4 = 0;
    std::memcpy(&ipv4, byte + 12, sizeof ipv4);
    return is_public(ntohl(ipv4));
  }
  if (byte[0] >> 5 != 1) return false;  // IANA has assigned only 2000::/3
  // Teredo and 6to4 embed an IPv4 address; the other two ranges are for documentation.
  return !starts({0x20, 0x01, 0x00, 0x00}) && !starts({0x20, 0x02}) &&
         !starts({0x20, 0x01, 0x0d, 0xb8}) && !(byte[0] == 0x3f && byte[1] == 0xff);
}

}  // namespace

Result<Peer> parse_peer(std::string_view text, std::uint16_t port) {
  Result<HostPort> parsed = parse_host_port(text);
  if (!parsed)
    return refused(quoted(text) + ": " + parsed.error().message, "write host or host:port");
  Peer peer{std::move(parsed->host), parsed->port.value_or(port)};
  for (char& c : peer.host)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return peer;
}

Result<ListedRegistry> parse_listed_registry(std::string_view text) {
  ListedRegistry listed;
  if (text.starts_with("http://")) listed.plain = true;
  const std::size_t scheme = text.find("://");
  const std::string_view name = scheme == std::string_view::npos ? text : text.substr(scheme + 3);
  const bool known =
      scheme == std::string_view::npos || listed.plain || text.substr(0, scheme) == "https";
  // A text that cannot be part of an image's name would never match one.
  const auto reference = parse_reference(std::string(name) + "/a/b");
  if (!known || !reference || reference->repository != "a/b")
    return refused(quoted(text) + " is not a registry",
                   "write its host and an optional port: ghcr.io, registry.corp:5000");
  listed.name = reference->registry;
  auto peer = parse_peer(listed.name, listed.plain ? kHttp : kHttps);
  if (!peer) return peer.error();
  listed.peer = std::move(*peer);
  return listed;
}

Status RegistryPolicy::allows(const Reference& image) const {
  const bool listed =
      std::any_of(listed_.begin(), listed_.end(),
                  [&](const ListedRegistry& registry) { return registry.name == image.registry; });
  if (listed) return Done{};
  const auto peer = parse_peer(image.registry, kHttps);
  const char* what = "is not on the list";
  if (peer && is_literal(peer->host))
    what = "is an address, and is not on the list";
  else if (peer && is_internal(peer->host))
    what = "is an internal name, and is not on the list";
  return refused("registry " + quoted(image.registry) + " " + what,
                 "list the registry in entrypointLookup.registries");
}

Result<RegistryPolicy::ConnectPermission> RegistryPolicy::allows(const Peer& peer,
                                                                 Scheme scheme) const {
  const bool plain = scheme == Scheme::http;
  for (const ListedRegistry& registry : listed_)
    if (registry.peer == peer && (registry.plain || !plain)) return ConnectPermission{true};
  const std::string where = quoted(peer.host + ":" + std::to_string(peer.port));
  const std::string fix = "list it in entrypointLookup.registries if it belongs to a registry";
  if (plain) return refused(where + " would be queried without TLS", fix);
  if (peer.port != kHttps) return refused(where + " does not use port 443", fix);
  if (is_literal(peer.host)) return refused(where + " is an address, not a name", fix);
  if (is_internal(peer.host)) return refused(where + " is an internal name", fix);
  return ConnectPermission{false};
}

bool is_public(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address, sizeof ipv4);
    return is_public(ntohl(ipv4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &address, sizeof ipv6);
    return is_public(ipv6.sin6_addr);
  }
  return false;
}

}  // namespace cronlatch::image
