// SPDX-License-Identifier: Apache-2.0
// Address: the IP address and port of a server.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cronlatch::redis {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  static std::optional<Address> from_literal(const std::string& ip, std::uint16_t port);
  static Address from_sockaddr(const sockaddr& address, socklen_t size, std::uint16_t port);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  std::string text() const;  // 10.0.0.1:6379, [fd00::1]:6379
  bool operator==(const Address& other) const { return text() == other.text(); }
};

}  // namespace cronlatch::redis
