// SPDX-License-Identifier: Apache-2.0
// UpstreamProxy: the HTTP proxy of the platform (the variables HTTPS_PROXY and NO_PROXY). The
// operator's own proxy connects through it, after its checks. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/registry_policy.h"

namespace cronlatch::registry {

class UpstreamProxy {
 public:
  // `https_proxy` is "http://host:port" or "host:port"; "" is no proxy. `no_proxy` is a list as
  // Go's programs read it: "host" with its subdomains, ".host" without the host itself,
  // "host:port", addresses, networks, "*". A login is an error: it would be in the environment.
  static Result<std::optional<UpstreamProxy>> parse(const std::string& https_proxy,
                                                    const std::string& no_proxy);

  const image::Peer& peer() const { return peer_; }
  bool is_for(const image::Peer& host) const;  // not excluded by NO_PROXY

 private:
  image::Peer peer_;
  std::vector<std::string> excluded_;
};

}  // namespace cronlatch::registry
