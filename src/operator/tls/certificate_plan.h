// SPDX-License-Identifier: Apache-2.0
// What the leader does next with the webhook's certificates. Pure: what is stored and the time in,
// one step out; the steps make a rotation in which, at every moment, what a replica shows is signed
// by something that the API server trusts:
//   the new CA joins the bundle -> the webhooks trust both -> a leaf of the new CA -> the old CA
//   leaves when no leaf of it can be shown any more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "operator/tls/certificate_issue.h"

namespace cronlatch::op {

// The Secret's four keys, decoded.
struct KeptCertificate {
  std::string ca_pem;  // a bundle: the one we sign with first
  std::string ca_key_pem;
  std::string leaf_pem;
  std::string leaf_key_pem;
  bool operator==(const KeptCertificate&) const = default;
};

struct CertificateView {
  std::optional<KeptCertificate> kept;  // nothing: there is no Secret
  // Every webhook trusts exactly the bundle that is kept, and has for `trusted_for`.
  bool trusted = false;
  Micros trusted_for{};
  std::vector<std::string> dns_names;
};

enum class CertificateStep {
  nothing,
  store,  // `next` must be written to the Secret
  trust,  // the kept bundle must be written to the webhooks
};

struct CertificatePlan {
  CertificateStep step = CertificateStep::nothing;
  KeptCertificate next{};
  std::string why{};  // for the log
};

// How long API servers may go on with the bundle they knew before.
inline constexpr Seconds kSettle{60};

Result<CertificatePlan> plan_certificate(const CertificateView& view, WallTime now);

}  // namespace cronlatch::op
