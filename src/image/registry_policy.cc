// SPDX-License-Identifier: Apache-2.0
#include "image/registry_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/text.h"

namespace cronlatch::image {
namespace {

constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kHttp = 80;

Error refused(std::string what, std::string fix) {
  return {Code::config, std::move(what), std::move(fix)};
}

bool is_literal(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1 || inet_pton(AF_INET6, host.c_str(), &six) == 1)
    return true;
  // "127.1", "0x7f000001", "2130706433": resolvers take them for addresses, too (inet_aton(3)).
  return inet_aton(host.c_str(), &four) == 1;
}

// Names that lead somewhere else, or nowhere, outside of this host, this cluster, this house.
bool is_internal(std::string_view host) {
  while (host.ends_with('.')) host.remove_suffix(1);
  constexpr std::array<std::string_view, 11> kEnds = {
      "localhost", "local", "localdomain", "internal", "intranet",    "lan",
      "home.arpa", "svc",   "corp",        "home",     "in-addr.arpa"};
  for (const std::string_view end : kEnds)
    if (host == end || (host.ends_with(end) && host[host.size() - end.size() - 1] == '.'))
      return true;
  return host.find('.') == std::string_view::npos || host.find(".svc.") != std::string_view::npos;
}

struct Range {
  std::uint32_t base;
  int bits;
};
// RFC 6890 and its successors.
constexpr std::array<Range, 15> kNotPublic = {{{0x00000000, 8},
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

bool is_public(std::uint32_t four) {
  return std::none_of(kNotPublic.begin(), kNotPublic.end(), [&](const Range& range) {
    return (four ^ range.base) >> (32 - range.bits) == 0;
  });
}

bool is_public(const in6_addr& six) {
  const auto* const byte = six.s6_addr;
  const auto starts = [&](std::initializer_list<unsigned char> with) {
    return std::equal(with.begin(), with.end(), byte);
  };
  // The last four bytes are an address of IPv4, behind NAT64 as well (RFC 6052).
  if (IN6_IS_ADDR_V4MAPPED(&six) || starts({0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) {
    std::uint32_t four = 0;
    std::memcpy(&four, byte + 12, sizeof four);
    return is_public(ntohl(four));
  }
  if (byte[0] >> 5 != 1) return false;  // 2000::/3 is all that has been given out
  // Teredo and 6to4 embed an address of IPv4; the rest is for documents.
  return !starts({0x20, 0x01, 0x00, 0x00}) && !starts({0x20, 0x02}) &&
         !starts({0x20, 0x01, 0x0d, 0xb8}) && !(byte[0] == 0x3f && byte[1] == 0xff);
}

}  // namespace

Result<Peer> parse_peer(std::string_view text, std::uint16_t port) {
  Peer peer{std::string(text), port};
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), peer.port);
    if (error != std::errc() || end != digits.data() + digits.size() || peer.port == 0)
      return refused(quoted(text) + " is no host with a port", "write host or host:port");
    peer.host = text.substr(0, colon);
  }
  if (peer.host.starts_with('[') && peer.host.ends_with(']'))
    peer.host = peer.host.substr(1, peer.host.size() - 2);
  for (char& c : peer.host)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (peer.host.empty()) return refused(quoted(text) + " names no host", "write host or host:port");
  return peer;
}

Result<ListedRegistry> parse_listed(std::string_view text) {
  ListedRegistry listed;
  if (text.starts_with("http://")) listed.plain = true;
  const std::size_t scheme = text.find("://");
  const std::string_view name = scheme == std::string_view::npos ? text : text.substr(scheme + 3);
  const bool known =
      scheme == std::string_view::npos || listed.plain || text.substr(0, scheme) == "https";
  // What cannot stand in an image's name would never match one.
  const auto reference = parse_reference(std::string(name) + "/a/b");
  if (!known || !reference || reference->repository != "a/b")
    return refused(quoted(text) + " is no registry",
                   "write its host, and its port where it has one: ghcr.io, registry.corp:5000");
  listed.name = reference->registry;
  auto peer = parse_peer(listed.name, listed.plain ? kHttp : kHttps);
  if (!peer) return peer.error();
  listed.peer = std::move(*peer);
  return listed;
}

Status RegistryPolicy::allows(const Reference& image) const {
  const bool listed = std::any_of(listed_.begin(), listed_.end(), [&](const ListedRegistry& one) {
    return one.name == image.registry;
  });
  if (listed) return Done{};
  const auto peer = parse_peer(image.registry, kHttps);
  const char* what = "is not on the list";
  if (peer && is_literal(peer->host))
    what = "is an address, and is not on the list";
  else if (peer && is_internal(peer->host))
    what = "is a name inside of this host or cluster, and is not on the list";
  return refused("registry " + quoted(image.registry) + " " + what,
                 "the platform lists registries in the chart's value entrypointLookup.registries");
}

Result<RegistryPolicy::Leave> RegistryPolicy::allows(const Peer& peer, Scheme scheme) const {
  const bool plain = scheme == Scheme::http;
  for (const ListedRegistry& one : listed_)
    if (one.peer == peer && (one.plain || !plain)) return Leave{true};
  const std::string where = quoted(peer.host + ":" + std::to_string(peer.port));
  const std::string fix = "list it in entrypointLookup.registries if it belongs to a registry";
  if (plain) return refused(where + " would be asked without TLS", fix);
  if (peer.port != kHttps) return refused(where + " is not on the port of HTTPS", fix);
  if (is_literal(peer.host)) return refused(where + " is an address, not a name", fix);
  if (is_internal(peer.host))
    return refused(where + " is a name inside of this host or cluster", fix);
  return Leave{false};
}

bool is_public(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    return is_public(ntohl(four.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &address, sizeof six);
    return is_public(six.sin6_addr);
  }
  return false;
}

}  // namespace cronlatch::image
