// SPDX-License-Identifier: Apache-2.0
// Asks a registry by skopeo: one child for each question, with nothing of our surroundings and only
// the proxy as its way out.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "image/registry_policy.h"
#include "registry/logins.h"
#include "registry/proxy.h"

namespace cronlatch::registry {

struct SkopeoConfig {
  std::string program = "/usr/bin/skopeo";
  std::string ca_file{};     // PEM: authorities besides the system's; "": none
  std::string system_cas{};  // SSL_CERT_FILE for the child; "": where it looks itself
  std::string scratch{};     // where temporary files may be
  // It starts within half of this, and what it reads is bounded by 4 MiB.
  std::size_t memory = std::size_t{192} << 20;
};

// Thread rule: any method from any thread.
class Skopeo {
 public:
  // All that is passed by reference outlives it. `confine` is called on each thread that starts a
  // child, and on no other: a thread of its own, so that nothing else is bound by what it forbids.
  Skopeo(SkopeoConfig request, const image::RegistryPolicy& policy, const Proxy& proxy,
         const Clock& clock, std::function<void()> confine)
      : request_(std::move(request)),
        policy_(policy),
        proxy_(proxy),
        clock_(clock),
        confine_(std::move(confine)) {}

  struct Limits {
    TimePoint deadline;
    std::size_t most_bytes;
  };
  enum class What { manifest, config };
  // The bytes that the registry has; a config is brought into OCI's form. The error names no login.
  Result<std::string> read(What what, const image::Reference& image, const Login* login,
                           const Limits& limits, const std::stop_token& stop) const;

 private:
  const SkopeoConfig request_;
  const image::RegistryPolicy& policy_;
  const Proxy& proxy_;
  const Clock& clock_;
  const std::function<void()> confine_;
};

// What a person needs of skopeo's last words: no log prefix, no query of a signed URL, no login.
std::string reason_in(const std::string& complaint);

}  // namespace cronlatch::registry
