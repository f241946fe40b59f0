// SPDX-License-Identifier: Apache-2.0
// "TRUSTED CERTIFICATE" blocks are skipped: their trust settings are not supported.
#include "store/redis/pem.h"

#include "base/base64.h"

namespace cronlatch::redis {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

}  // namespace

std::optional<std::string> PemCertificates::next() {
  while (true) {
    const std::size_t begin = rest_.find(kBegin);
    if (begin == std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(begin + kBegin.size());
    const std::size_t end = rest_.find(kEnd);
    if (end == std::string_view::npos) return std::nullopt;
    std::optional<std::string> der = decode_base64(rest_.substr(0, end));
    rest_.remove_prefix(end + kEnd.size());
    if (der) return der;
  }
}

}  // namespace cronlatch::redis
