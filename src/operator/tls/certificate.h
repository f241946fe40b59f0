// SPDX-License-Identifier: Apache-2.0
// The certificate of the admission port. CertificateFiles reads it from a directory,
// CertificateKeeper from a Secret.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::op {

struct Certificate {
  std::string chain_pem;  // leaf first
  std::string key_pem;    // secret: never logged or printed
  std::string ca_pem;     // the CAs that the API server trusts; may be empty in mode `files`
  WallTime not_after{};   // of the leaf
  std::optional<WallTime> ca_not_after{};  // of the CA in ca_pem that signed it, if there is one
  bool operator==(const Certificate&) const = default;
};

// Checks that the chain and the key are valid PEM and match, and sets the times. It does not check
// the time or the names: an expired certificate is still served, and a metric shows its expiry.
Result<Certificate> parse_certificate(std::string chain_pem, std::string key_pem,
                                      std::string ca_pem);

}  // namespace cronlatch::op
