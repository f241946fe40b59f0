// SPDX-License-Identifier: Apache-2.0
// The only way out for the client of registries: a proxy on loopback that asks the policy about
// every host, resolves its name itself, and connects to the very address that it has judged. So
// neither a redirect nor a login's realm nor a name that changes its mind leads anywhere else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "image/registry_policy.h"

namespace cronlatch::registry {

struct ProxyLimits {
  std::size_t connections = 64;
  std::size_t head_bytes = std::size_t{16} * 1024;
  std::size_t tunnel_bytes = std::size_t{32} << 20;  // both ways together
  Millis tunnel_time{60'000};                        // absolute
  Millis connect_time{5'000};                        // for each address
};

// Thread rule: any method from any thread; start() and stop() once.
class Proxy {
 public:
  // All that is passed outlives it.
  Proxy(const image::RegistryPolicy& policy, const ProxyLimits& limits, const Clock& clock,
        const Log& log);
  ~Proxy();  // stops
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  Status start();
  void stop();
  std::uint16_t port() const;
  // "http://lookup:<secret>@127.0.0.1:<port>": whoever else finds the port gets nothing from it.
  std::string url() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::registry
