// SPDX-License-Identifier: Apache-2.0
// Issues certificates: a CA, and the certificate of a server: the webhook, or the chart's Redis.
// ECDSA P-256; no files, no OpenSSL configuration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::op {

struct IssuedCertificate {
  std::string cert_pem;
  std::string key_pem;  // secret: never logged or printed
};

// Two years: rotations are rare, but each installation performs one in its lifetime.
inline constexpr Seconds kCaLife{2LL * 365 * 86'400};
inline constexpr Seconds kLeafLife{90LL * 86'400};

// `purpose`: begins the common names.
inline constexpr char kWebhookPurpose[] = "cronlatch webhook";
Result<IssuedCertificate> issue_ca(WallTime now, const std::string& purpose = kWebhookPurpose);
Result<IssuedCertificate> issue_leaf(const IssuedCertificate& ca,
                                     const std::vector<std::string>& dns_names, WallTime now,
                                     const std::string& purpose = kWebhookPurpose);

// The properties of a stored certificate.
struct CertFacts {
  WallTime not_before{}, not_after{};
  bool names_match = false;   // it contains every expected name
  bool signed_by_ca = false;  // by the expected CA
  bool key_matches = false;   // the expected key belongs to it
  bool is_ca = false;
};
struct CertExpectations {
  std::string key_pem{};
  std::string ca_pem{};  // the first certificate in it
  std::vector<std::string> dns_names{};
};
Result<CertFacts> inspect(const std::string& cert_pem, const CertExpectations& expected);

// Each certificate of a bundle as a separate PEM; invalid parts are skipped.
std::vector<std::string> split_bundle(const std::string& bundle_pem);
// The certificate of the bundle that signed `cert_pem`; "" if none did.
std::string signer_in(const std::string& bundle_pem, const std::string& cert_pem);

}  // namespace cronlatch::op
