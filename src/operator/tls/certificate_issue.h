// SPDX-License-Identifier: Apache-2.0
// Issues certificates: a CA of our own and, by it, the one that the webhook shows. ECDSA P-256, no
// files, no configuration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::op {

struct Issued {
  std::string cert_pem;
  std::string key_pem;  // a secret: never logged, never printed
};

// Two years: long enough that a rotation is rare, short enough that it is not a leap in the dark.
inline constexpr Seconds kCaLife{2LL * 365 * 86'400};
inline constexpr Seconds kLeafLife{90LL * 86'400};

Result<Issued> issue_ca(WallTime now);
Result<Issued> issue_leaf(const Issued& ca, const std::vector<std::string>& dns_names,
                          WallTime now);

// What the keeper must know of a certificate that somebody has stored.
struct CertFacts {
  WallTime not_before{}, not_after{};
  bool names_fit = false;     // every name asked for is in it
  bool signed_by_ca = false;  // by the CA asked for
  bool key_fits = false;      // the key asked for is its own
  bool is_ca = false;
};
struct CertQuestion {
  std::string key_pem{};
  std::string ca_pem{};  // the first certificate in it
  std::vector<std::string> dns_names{};
};
Result<CertFacts> examine(const std::string& cert_pem, const CertQuestion& question);

// Each certificate of a bundle as PEM of its own; what cannot be read is left out.
std::vector<std::string> split_bundle(const std::string& bundle_pem);

}  // namespace cronlatch::op
