// SPDX-License-Identifier: Apache-2.0
// The two requests that a client of registries sends to a proxy: a tunnel for TLS (CONNECT), and
// one request without TLS, in absolute form (RFC 9112, section 3.2.2). Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "image/registry_policy.h"

namespace cronlatch::registry {

struct ProxyRequest {
  image::Peer peer;
  image::RegistryPolicy::Scheme scheme;
  std::string first_bytes;  // to send to the peer first; empty for a tunnel
};
// `head` ends with its empty line. The error's message is for the log and contains nothing of the
// request.
Result<ProxyRequest> parse_proxy_request(const std::string& head, const std::string& secret);

}  // namespace cronlatch::registry
