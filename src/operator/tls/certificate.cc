// SPDX-License-Identifier: Apache-2.0
// Reads PEM with OpenSSL from memory.
#include "operator/tls/certificate.h"

#include <openssl/err.h>

#include <utility>

#include "operator/tls/certificate_issue.h"
#include "operator/tls/openssl.h"

namespace cronlatch::op {
Result<Certificate> parse_certificate(std::string chain_pem, std::string key_pem,
                                      std::string ca_pem) {
  ERR_clear_error();
  const Cert leaf = next_cert(memory_bio(chain_pem).get());
  if (leaf == nullptr) {
    return tls_error("the certificate chain cannot be read",
                     "use PEM with the server's certificate first");
  }
  const Key key = next_key(memory_bio(key_pem).get());
  if (key == nullptr) {
    return tls_error("the private key cannot be read", "use PEM without a passphrase");
  }
  if (X509_check_private_key(leaf.get(), key.get()) != 1) {
    return tls_error("the private key does not belong to the certificate",
                     "use a key and a certificate that were issued together");
  }
  const WallTime not_after = wall_time(X509_get0_notAfter(leaf.get()));
  std::optional<WallTime> ca_not_after;
  if (const auto ca = inspect(signer_in(ca_pem, chain_pem), {})) ca_not_after = ca->not_after;
  return Certificate{std::move(chain_pem), std::move(key_pem), std::move(ca_pem), not_after,
                     ca_not_after};
}

}  // namespace cronlatch::op
