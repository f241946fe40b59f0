// SPDX-License-Identifier: Apache-2.0
// Addresses to and from text; without name lookup.
#include "store/redis/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "base/host_port.h"

namespace cronlatch::redis {
namespace {

void set_port(Address& address, std::uint16_t port) {
  if (address.family() == AF_INET6)
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = htons(port);
  else
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = htons(port);
}

}  // namespace

std::optional<Address> Address::from_literal(const std::string& ip, std::uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, ip.c_str(), &v4->sin_addr) == 1) {
    address.storage.ss_family = AF_INET;
    address.size = sizeof *v4;
  } else if (inet_pton(AF_INET6, ip.c_str(), &v6->sin6_addr) == 1) {
    address.storage.ss_family = AF_INET6;
    address.size = sizeof *v6;
  } else {
    return std::nullopt;
  }
  set_port(address, port);
  return address;
}

Address Address::from_sockaddr(const sockaddr& from, socklen_t size, std::uint16_t port) {
  Address address;
  std::memcpy(&address.storage, &from, size);
  address.size = size;
  set_port(address, port);
  return address;
}

std::string Address::text() const {
  char ip[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, ip, sizeof ip);
    return show_host_port(ip, ntohs(v6->sin6_port));
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
  inet_ntop(AF_INET, &v4->sin_addr, ip, sizeof ip);
  return show_host_port(ip, ntohs(v4->sin_port));
}

}  // namespace cronlatch::redis
