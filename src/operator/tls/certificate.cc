// SPDX-License-Identifier: Apache-2.0
// Reads PEM with OpenSSL from memory; knows no files and no sockets.
#include "operator/tls/certificate.h"

#include <openssl/err.h>

#include <ctime>
#include <utility>

#include "operator/tls/openssl.h"

namespace cronlatch::op {
namespace {

WallTime end_of(const X509* leaf) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &broken_down) != 1) return {};
  return {static_cast<std::int64_t>(::timegm(&broken_down)) * 1'000'000};
}

}  // namespace

Result<Certificate> make_certificate(std::string chain_pem, std::string key_pem,
                                     std::string ca_pem) {
  ERR_clear_error();
  const Cert leaf = next_cert(memory(chain_pem).get());
  if (leaf == nullptr) {
    return tls_error("the certificate chain cannot be read", "PEM, the server's certificate first");
  }
  const Key key = next_key(memory(key_pem).get());
  if (key == nullptr) {
    return tls_error("the private key cannot be read", "PEM, without a passphrase");
  }
  if (X509_check_private_key(leaf.get(), key.get()) != 1) {
    return tls_error("the private key does not belong to the certificate",
                     "both must come from the same issue");
  }
  const WallTime not_after = end_of(leaf.get());
  return Certificate{std::move(chain_pem), std::move(key_pem), std::move(ca_pem), not_after};
}

}  // namespace cronlatch::op
