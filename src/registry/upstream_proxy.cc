// SPDX-License-Identifier: Apache-2.0
// The rules of NO_PROXY are those of golang.org/x/net/http/httpproxy.
#include "registry/upstream_proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace cronlatch::registry {
namespace {

using Address = std::array<unsigned char, 16>;

// An IPv4 address as ::ffff:a.b.c.d.
std::optional<Address> address_of(const std::string& text) {
  Address bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes = {};
  bytes[10] = bytes[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

bool is_in_network(const std::string& host, const std::string& network) {
  const std::size_t slash = network.find('/');
  const auto address = address_of(host);
  const auto base = address_of(network.substr(0, slash));
  if (!address || !base) return false;
  int bits = 128;
  if (slash != std::string::npos) {
    const char* const end = network.data() + network.size();
    const auto [rest, error] = std::from_chars(network.data() + slash + 1, end, bits);
    if (error != std::errc() || rest != end) return false;
    if (network.find(':') == std::string::npos) bits += 96;
    if (bits < 0 || bits > 128) return false;
  }
  for (int bit = 0; bit < bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if (((*address)[at] & mask) != ((*base)[at] & mask)) return false;
  }
  return true;
}

bool excludes(const std::string& entry, const image::Peer& host) {
  if (entry == "*" || is_in_network(host.host, entry)) return true;
  if (entry.find('/') != std::string::npos) return false;
  std::string name = entry;
  if (name.starts_with("*.")) name.erase(0, 1);
  const bool subdomains_only = name.starts_with('.');
  const auto peer = image::parse_peer(subdomains_only ? name.substr(1) : name, host.port);
  if (!peer || peer->port != host.port) return false;
  return (!subdomains_only && host.host == peer->host) || host.host.ends_with("." + peer->host);
}

}  // namespace

Result<std::optional<UpstreamProxy>> UpstreamProxy::parse(const std::string& https_proxy,
                                                          const std::string& no_proxy) {
  if (https_proxy.empty()) return std::optional<UpstreamProxy>();
  const std::string fix = "set HTTPS_PROXY to http://HOST:PORT";
  const std::size_t scheme = https_proxy.find("://");
  if (scheme != std::string::npos && https_proxy.substr(0, scheme) != "http")
    return Error{Code::config, "HTTPS_PROXY: a proxy is reached over http:// only", fix};
  std::string host = scheme == std::string::npos ? https_proxy : https_proxy.substr(scheme + 3);
  if (host.ends_with('/')) host.pop_back();
  if (host.find('@') != std::string::npos)
    return Error{Code::config, "HTTPS_PROXY contains a login, which is not supported", fix};
  auto peer = image::parse_peer(host, 80);
  if (!peer) return Error{Code::config, "HTTPS_PROXY: " + peer.error().message, fix};
  UpstreamProxy proxy;
  proxy.peer_ = std::move(*peer);
  std::string entry;
  for (const char c : no_proxy + ",") {
    if (c == ',') {
      if (!entry.empty()) proxy.excluded_.push_back(std::exchange(entry, ""));
    } else if (c != ' ') {
      entry += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return std::optional(std::move(proxy));
}

bool UpstreamProxy::is_for(const image::Peer& host) const {
  return std::none_of(excluded_.begin(), excluded_.end(),
                      [&](const std::string& entry) { return excludes(entry, host); });
}

}  // namespace cronlatch::registry
