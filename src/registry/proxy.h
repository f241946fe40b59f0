// SPDX-License-Identifier: Apache-2.0
// The proxy on loopback through which the client of registries connects. It checks every host with
// the policy, resolves the name itself, and connects to the address that it has checked. So a
// redirect, a login's realm or a changed DNS record cannot lead to a host that is not allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "image/registry_policy.h"
#include "registry/upstream_proxy.h"

namespace cronlatch::registry {

struct ProxyLimits {
  std::size_t connections = 64;
  std::size_t head_bytes = std::size_t{16} * 1024;
  std::size_t tunnel_bytes = std::size_t{32} << 20;  // both directions together
  Millis tunnel_time{60'000};                        // from the accept to the close
  Millis connect_time{5'000};                        // for each address
};

// Thread rule: any method from any thread; start() and stop() once.
class Proxy {
 public:
  // Everything passed by reference outlives it. With `upstream`, tunnels lead through that proxy.
  Proxy(const image::RegistryPolicy& policy, const ProxyLimits& limits, const Clock& clock,
        const Log& log, std::optional<UpstreamProxy> upstream = std::nullopt);
  ~Proxy();  // stops
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  Status start();
  void stop();
  std::uint16_t port() const;
  // "http://lookup:<secret>@127.0.0.1:<port>": without the secret, the proxy refuses a request.
  std::string url() const;
  // The same secret as the value of the header Proxy-Authorization.
  std::string authorization() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::registry
