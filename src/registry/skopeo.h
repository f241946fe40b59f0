// SPDX-License-Identifier: Apache-2.0
// Reads documents of an image with skopeo: one child process for each, with an environment and
// configuration files of its own. It connects through the proxy only.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "image/registry_policy.h"
#include "registry/logins.h"
#include "registry/proxy.h"
#include "registry/registry_client.h"

namespace cronlatch::registry {

struct SkopeoConfig {
  std::string program = "/usr/bin/skopeo";
  std::string ca_file{};     // PEM: CAs in addition to the system's; "": none
  std::string system_cas{};  // SSL_CERT_FILE of the child; "": not set
  std::string temp_dir{};    // for temporary directories
  // RLIMIT_DATA in bytes. skopeo starts within half of this; a document is at most 2 MiB.
  std::size_t memory = std::size_t{192} << 20;
};

// Thread rule: any method from any thread.
class Skopeo {
 public:
  // Everything passed by reference outlives it. `confine` is called on each thread that starts a
  // child. That thread does nothing else, because a confinement cannot be removed again.
  Skopeo(SkopeoConfig config, const image::RegistryPolicy& policy, const Proxy& proxy,
         const Clock& clock, std::function<void()> confine)
      : config_(std::move(config)),
        policy_(policy),
        proxy_(proxy),
        clock_(clock),
        confine_(std::move(confine)) {}

  using Limits = RegistryClient::Limits;
  using Document = RegistryClient::Document;
  // As RegistryClient::read.
  Result<std::string> read(Document document, const image::Reference& image,
                           const RegistryLogin* login, const Limits& limits,
                           const std::stop_token& stop) const;

 private:
  const SkopeoConfig config_;
  const image::RegistryPolicy& policy_;
  const Proxy& proxy_;
  const Clock& clock_;
  const std::function<void()> confine_;
};

// The reason in skopeo's standard error, without log prefix, queries of signed URLs and logins.
std::string error_reason(const std::string& standard_error);

}  // namespace cronlatch::registry
