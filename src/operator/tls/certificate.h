// SPDX-License-Identifier: Apache-2.0
// What the admission server shows to the API server, whoever made it: certificate_files.h reads it
// from a directory, the certificate keeper from our Secret. Not a word of TLS settings here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::op {

struct Certificate {
  std::string chain_pem;  // leaf first
  std::string key_pem;    // a secret: never logged, never printed
  std::string ca_pem;     // what the API server is told to trust; may be empty in mode `files`
  WallTime not_after{};   // of the leaf
  bool operator==(const Certificate&) const = default;
};

// Checks that the chain and the key can be read and belong together, and fills in not_after. It
// says nothing about time or names: an expired certificate is better than none, and is seen by its
// metric.
Result<Certificate> make_certificate(std::string chain_pem, std::string key_pem,
                                     std::string ca_pem);

}  // namespace cronlatch::op
