// SPDX-License-Identifier: Apache-2.0
// ProxiedConnection: one connection through the proxy (proxy.h), with TLS or without. The proxy
// checks the host, so no name and no redirect leads to a host that is not allowed.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "image/registry_policy.h"
#include "registry/proxy.h"
#include "registry/trusted_cas.h"

namespace cronlatch::registry {

struct ConnectionLimits {
  TimePoint deadline;  // of the whole connection
  std::stop_token stop;
};

class ProxiedConnection {
 public:
  // `cas` is nullptr for a connection without TLS: then the request's target must be an absolute
  // URL, with the header Proxy-Authorization. All references must outlive the object.
  static Result<ProxiedConnection> open(const Proxy& proxy, const image::Peer& to,
                                        const TrustedCas* cas, const Clock& clock,
                                        const ConnectionLimits& limits);
  ProxiedConnection(ProxiedConnection&& other) noexcept;
  ProxiedConnection& operator=(ProxiedConnection&&) = delete;
  ~ProxiedConnection();

  Status write(std::string_view bytes);
  // Some bytes; "" at the end of the stream.
  Result<std::string> read();

 private:
  class Impl;
  explicit ProxiedConnection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cronlatch::registry
