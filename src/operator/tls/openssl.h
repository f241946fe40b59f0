// SPDX-License-Identifier: Apache-2.0
// OpenSSL's objects with owners, and its complaints as our errors: what certificates and TLS share.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cronlatch::op {

template <auto kFree>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using Cert = std::unique_ptr<X509, Freer<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

// Reads `pem`, which outlives it.
Bio memory(std::string_view pem);
// The next one in `pem`, or nullptr: at the end, and where it cannot be read. Never asks the
// terminal for a passphrase.
Cert next_cert(BIO* pem);
Key next_key(BIO* pem);

// `what`, and the newest complaint of this thread's queue, which is left empty.
Error tls_error(std::string what, std::string hint = "");

}  // namespace cronlatch::op
