// SPDX-License-Identifier: Apache-2.0
// ConfinedAccess: the operator's own way to registries: HEAD, skopeo as a confined child, and the
// proxy through which both connect.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "admission/settings.h"
#include "base/log.h"
#include "base/time.h"
#include "image/registry_policy.h"
#include "registry/proxy.h"
#include "registry/registry_access.h"

namespace cronlatch::op {

// Thread rule: any method from any thread; start() and stop() once.
class ConfinedAccess {
 public:
  // All references must outlive the object.
  ConfinedAccess(const Settings& settings, const Clock& clock, const Log& log);

  // `scratch`: directory for temporary files; `system_cas`: the variable SSL_CERT_FILE.
  Status start(const std::string& scratch, const std::string& system_cas,
               std::optional<registry::UpstreamProxy> upstream);
  void stop() {
    if (proxy_) proxy_->stop();
  }

  const image::RegistryPolicy& policy() const { return policy_; }
  const registry::RegistryClient& client() const { return *access_; }  // after start()

 private:
  void confine();

  const Settings& settings_;
  const Clock& clock_;
  const Log& log_;
  const image::RegistryPolicy policy_;
  std::optional<registry::Proxy> proxy_;
  std::atomic<bool> warned_{false};
  std::optional<registry::Skopeo> skopeo_;
  std::optional<registry::ManifestHead> head_;
  std::optional<registry::RegistryAccess> access_;
};

}  // namespace cronlatch::op
