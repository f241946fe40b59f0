// SPDX-License-Identifier: Apache-2.0
// Which hosts the operator may connect to when a tenant names an image. A registry is queried only
// if the platform lists it. A host to which a listed registry points (a login's realm, a redirect
// to blobs) must be listed itself, or be public and use HTTPS on port 443. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/reference.h"

struct sockaddr;

namespace cronlatch::image {

struct Peer {
  std::string host;  // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  bool operator==(const Peer&) const = default;
};

// "host", "host:port", "[::1]:port"; `port` is the default. Resolves no name.
Result<Peer> parse_peer(std::string_view text, std::uint16_t port);

struct ListedRegistry {
  std::string name;  // as in Reference
  Peer peer;
  bool plain = false;  // HTTP without TLS
};
// "ghcr.io", "registry.corp:5000"; without TLS: "http://registry.local:5000".
Result<ListedRegistry> parse_listed_registry(std::string_view text);

class RegistryPolicy {
 public:
  explicit RegistryPolicy(std::vector<ListedRegistry> listed) : listed_(std::move(listed)) {}

  // Whether this image may be looked up. The error is for the user whose Job contains it.
  Status allows(const Reference& image) const;

  enum class Scheme { https, http };
  struct ConnectPermission {
    bool any_address;  // true for a listed host; false: only to public addresses
  };
  // Whether the proxy may open a connection for skopeo.
  Result<ConnectPermission> allows(const Peer& peer, Scheme scheme) const;

  const std::vector<ListedRegistry>& listed() const { return listed_; }

 private:
  std::vector<ListedRegistry> listed_;
};

// Not in a private, local, shared, reserved or documentation range, and does not embed an address
// of such a range.
bool is_public(const sockaddr& address);

}  // namespace cronlatch::image
