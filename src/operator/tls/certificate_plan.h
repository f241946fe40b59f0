// SPDX-License-Identifier: Apache-2.0
// The next step of the leader for the certificates of a server. Pure: the stored state and the time
// in, one step out. At every moment of a rotation, the certificate that a replica serves is signed
// by a CA that the API server trusts:
//   add the new CA to the bundle -> the clients trust both -> a leaf of the new CA -> remove the
//   old CA when no leaf of it can be in use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "operator/tls/certificate_issue.h"

namespace cronlatch::op {

// The four keys of the Secret, decoded.
struct StoredCertificate {
  std::string ca_pem;  // a bundle; the first CA signs
  std::string ca_key_pem;
  std::string leaf_pem;
  std::string leaf_key_pem;
  bool operator==(const StoredCertificate&) const = default;
};

struct CertificateView {
  std::optional<StoredCertificate> stored;  // nothing: no Secret
  // Every client (the webhooks) trusts exactly the stored bundle, for the time `trusted_for`.
  bool trusted = false;
  Micros trusted_for{};
  std::vector<std::string> dns_names;
  std::string purpose = kWebhookPurpose;
};

enum class CertificateStep {
  nothing,
  store,  // `next` must be written to the Secret
  trust,  // the stored bundle must be written to the webhooks
};

struct CertificatePlan {
  CertificateStep step = CertificateStep::nothing;
  StoredCertificate next{};
  std::string why{};  // for the log
};

// API servers may use the previous bundle for this time.
inline constexpr Seconds kBundlePropagation{60};

Result<CertificatePlan> plan_certificate(const CertificateView& view, WallTime now);

}  // namespace cronlatch::op
