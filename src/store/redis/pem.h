// SPDX-License-Identifier: Apache-2.0
// The certificates of a PEM text as DER, without parsing them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cronlatch::redis {

// Each next() returns the DER of one certificate. Invalid blocks are skipped.
class PemCertificates {
 public:
  explicit PemCertificates(std::string_view text) : rest_(text) {}
  std::optional<std::string> next();

 private:
  std::string_view rest_;
};

}  // namespace cronlatch::redis
