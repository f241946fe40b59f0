// SPDX-License-Identifier: Apache-2.0
// Whom the operator may speak to when a tenant names an image. A registry is asked when it is on
// the platform's list, exactly; what a listed registry points to (a login's realm, a redirect to
// where blobs lie) may be any public host over HTTPS, or one that is listed itself. Pure.
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
  std::string host;  // lower case; a literal of IPv6 without brackets
  std::uint16_t port = 0;
  bool operator==(const Peer&) const = default;
};

// "host", "host:port", "[::1]:port"; `port` where the text has none. Nothing is resolved.
Result<Peer> parse_peer(std::string_view text, std::uint16_t port);

struct ListedRegistry {
  std::string name;  // as a Reference has it
  Peer peer;
  bool plain = false;  // HTTP without TLS
};
// "ghcr.io", "registry.corp:5000"; "http://registry.local:5000" is one without TLS.
Result<ListedRegistry> parse_listed(std::string_view text);

class RegistryPolicy {
 public:
  explicit RegistryPolicy(std::vector<ListedRegistry> listed) : listed_(std::move(listed)) {}

  // May this image be looked up? The error is the reason, for whoever named it.
  Status allows(const Reference& image) const;

  enum class Scheme { https, http };
  struct Leave {
    bool any_address;  // listed: wherever its name leads; else only public addresses
  };
  // May a connection be made that skopeo asks for?
  Result<Leave> allows(const Peer& peer, Scheme scheme) const;

  const std::vector<ListedRegistry>& listed() const { return listed_; }

 private:
  std::vector<ListedRegistry> listed_;
};

// Can be meant for everybody: no private, local, shared, reserved or documentation range, none that
// embeds such a one.
bool is_public(const sockaddr& address);

}  // namespace cronlatch::image
