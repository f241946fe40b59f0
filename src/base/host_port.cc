// SPDX-License-Identifier: Apache-2.0
#include "base/host_port.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace cronlatch {
namespace {

constexpr std::size_t kMaxHostName = 254;  // RFC 1035: 253, and a trailing dot

Error wrong(const char* message) { return {Code::usage, message}; }

bool is_ipv6(const std::string& text) {
  in6_addr address;
  return text.find('\0') == std::string::npos && inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_host_name(std::string_view host) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return host.size() <= kMaxHostName && host.front() != '.' &&
         host.find("..") == std::string_view::npos &&
         std::all_of(host.begin(), host.end(), allowed);
}

// `text`: what follows the host.
Result<HostPort> with_port(std::string host, std::string_view text, std::uint16_t least_port) {
  if (text.empty()) return HostPort{std::move(host), std::nullopt};
  if (text.front() != ':') return wrong("only :port may follow the ']'");
  text.remove_prefix(1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < least_port)
    return wrong(least_port == 0 ? "the port must be 0 to 65535, in digits"
                                 : "the port must be 1 to 65535, in digits");
  return HostPort{std::move(host), port};
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text, std::uint16_t least_port) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return wrong("the ']' after the IPv6 address is missing");
    std::string host(text.substr(1, close - 1));
    if (!is_ipv6(host)) return wrong("the text in brackets is not an IPv6 address");
    return with_port(std::move(host), text.substr(close + 1), least_port);
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (text.find(':', colon + 1) != std::string_view::npos)
    return wrong("an IPv6 address must be in brackets, as in [fd00::1]:6379");
  const std::string_view host = text.substr(0, colon);
  if (host.empty()) return wrong("the host is missing");
  if (!is_host_name(host))
    return wrong("the host contains a character that is not valid in a host name");
  return with_port(std::string(host), text.substr(colon), least_port);
}

std::string show_host(std::string_view host) {
  const bool is_ipv6 = host.find(':') != std::string_view::npos;
  return is_ipv6 ? '[' + std::string(host) + ']' : std::string(host);
}

std::string show_host_port(std::string_view host, std::uint16_t port) {
  return show_host(host) + ':' + std::to_string(port);
}

}  // namespace cronlatch
