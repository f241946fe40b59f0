// SPDX-License-Identifier: Apache-2.0
// host[:port], as in URLs: a host name, an IPv4 address, or an IPv6 address in brackets. Pure: no
// name is resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch {

struct HostPort {
  std::string host;  // as written; IPv6 without its brackets
  std::optional<std::uint16_t> port;
};

// Code::usage: the message names the wrong part and does not repeat it. Port 0 is refused, except
// where the server of that port chooses a free one (`least_port` 0).
Result<HostPort> parse_host_port(std::string_view text, std::uint16_t least_port = 1);

// "host", or "[host]" for IPv6.
std::string show_host(std::string_view host);
// "host:port", or "[host]:port" for IPv6.
std::string show_host_port(std::string_view host, std::uint16_t port);

}  // namespace cronlatch
