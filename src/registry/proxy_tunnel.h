// SPDX-License-Identifier: Apache-2.0
// One connection of the proxy: reads its request, checks it, connects, and forwards bytes.
#pragma once

#include <stop_token>
#include <string>

#include "base/fd.h"
#include "registry/proxy.h"

namespace cronlatch::registry {

struct TunnelDependencies {
  const image::RegistryPolicy& policy;
  const ProxyLimits& limits;
  const std::string& secret;
  const Clock& clock;
  const Log& log;
  const std::optional<UpstreamProxy>& upstream;
};

// Blocks until the connection is closed, times out or `stop` is requested. `peer` is non-blocking.
void serve_tunnel(Fd peer, const TunnelDependencies& dependencies, const std::stop_token& stop);

}  // namespace cronlatch::registry
