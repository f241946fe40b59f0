// SPDX-License-Identifier: Apache-2.0
// One connection of the proxy, from its first line to its end.
#pragma once

#include <stop_token>
#include <string>

#include "base/fd.h"
#include "registry/private_directory.h"
#include "registry/proxy.h"

namespace cronlatch::registry {

struct TunnelParts {
  const image::RegistryPolicy& policy;
  const ProxyLimits& limits;
  const std::string& secret;
  const Clock& clock;
  const Log& log;
};

// Blocks until it is over. `peer` is non-blocking.
void serve_tunnel(Fd peer, const TunnelParts& parts, const std::stop_token& stop);

// What a client wants of the proxy. Pure.
struct Wanted {
  image::Peer peer;
  image::RegistryPolicy::Scheme scheme;
  std::string first_bytes;  // for the host, before anything else
};
// The error's message is for the log, and never holds what was sent.
Result<Wanted> read_head(const std::string& head, const std::string& secret);

}  // namespace cronlatch::registry
