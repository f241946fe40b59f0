// SPDX-License-Identifier: Apache-2.0
#include "store/redis/node_name.h"

#include <string>

#include "base/host_port.h"

namespace cronlatch::redis {

std::optional<StoreHost> parse_node(std::string_view host, std::string_view port) {
  const bool is_ipv6 = host.find(':') != std::string_view::npos;
  const Result<HostPort> parsed = parse_host_port(show_host(host) + ':' + std::string(port));
  if (!parsed || !parsed->port || (!is_ipv6 && host.starts_with('['))) return std::nullopt;
  return StoreHost{parsed->host, *parsed->port};
}

std::optional<StoreHost> parse_master(const Resp& answer) {
  if (answer.type != Resp::Type::array || answer.elements.size() != 2) return std::nullopt;
  return parse_node(answer.elements[0].text, answer.elements[1].text);
}

}  // namespace cronlatch::redis
