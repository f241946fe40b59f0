// SPDX-License-Identifier: Apache-2.0
// ManifestHead: HEAD of a manifest, with the token that the registry requires. It connects through
// the proxy only, and follows no redirect.
#pragma once

#include <stop_token>
#include <string>

#include "base/time.h"
#include "image/registry_policy.h"
#include "registry/http_response.h"
#include "registry/proxied_connection.h"
#include "registry/proxy.h"
#include "registry/registry_client.h"

namespace cronlatch::registry {

// Thread rule: any method from any thread.
class ManifestHead {
 public:
  // `ca_file` as in SkopeoConfig; it is read for each request. All references must outlive the
  // object.
  ManifestHead(std::string ca_file, const image::RegistryPolicy& policy, const Proxy& proxy,
               const Clock& clock)
      : ca_file_(std::move(ca_file)), policy_(policy), proxy_(proxy), clock_(clock) {}

  HeadResult head(const image::Reference& image, const RegistryLogin* login, TimePoint deadline,
                  const std::stop_token& stop) const;

 private:
  struct Exchange;
  Result<RegistryResponse> send(const Exchange& exchange) const;
  Result<std::string> authorization(const RegistryResponse& refused, const image::Reference& image,
                                    const RegistryLogin* login, const Exchange& before) const;

  const std::string ca_file_;
  const image::RegistryPolicy& policy_;
  const Proxy& proxy_;
  const Clock& clock_;
};

}  // namespace cronlatch::registry
