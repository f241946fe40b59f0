// SPDX-License-Identifier: Apache-2.0
// Reads PEM with OpenSSL from memory; knows no files and no sockets.
#include "operator/certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

namespace cronlatch::op {
namespace {

template <auto kFree>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using Leaf = std::unique_ptr<X509, Freer<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

// OpenSSL would ask the terminal for the passphrase of an encrypted key.
int no_passphrase(char*, int, int, void*) { return 0; }

Bio memory(std::string_view pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// The newest complaint of this thread's queue, which is left empty for the next call.
Error trouble(std::string what, std::string hint) {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  if (reason != nullptr) what += std::string(": ") + reason;
  return {Code::tls, std::move(what), std::move(hint)};
}

WallTime end_of(const X509* leaf) {
  std::tm broken_down{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &broken_down) != 1) return {};
  return {static_cast<std::int64_t>(::timegm(&broken_down)) * 1'000'000};
}

}  // namespace

Result<Certificate> make_certificate(std::string chain_pem, std::string key_pem,
                                     std::string ca_pem) {
  ERR_clear_error();
  const Leaf leaf(PEM_read_bio_X509(memory(chain_pem).get(), nullptr, no_passphrase, nullptr));
  if (leaf == nullptr) {
    return trouble("the certificate chain cannot be read", "PEM, the server's certificate first");
  }
  const Key key(PEM_read_bio_PrivateKey(memory(key_pem).get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) {
    return trouble("the private key cannot be read", "PEM, without a passphrase");
  }
  if (X509_check_private_key(leaf.get(), key.get()) != 1) {
    return trouble("the private key does not belong to the certificate",
                   "both must come from the same issue");
  }
  const WallTime not_after = end_of(leaf.get());
  return Certificate{std::move(chain_pem), std::move(key_pem), std::move(ca_pem), not_after};
}

}  // namespace cronlatch::op
