// SPDX-License-Identifier: Apache-2.0
// Owners for objects of OpenSSL, and its errors as Error.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::op {

template <auto kFree>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Cert = std::unique_ptr<X509, Deleter<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

// Reads `pem`, which must outlive it.
Bio memory_bio(std::string_view pem);
// The next object in `pem`; nullptr at the end and for invalid PEM. Never reads a passphrase from
// the terminal.
Cert next_cert(BIO* pem);
Key next_key(BIO* pem);

WallTime wall_time(const ASN1_TIME* time);

// `what` with the newest error of this thread's OpenSSL queue; clears the queue.
Error tls_error(std::string what, std::string hint = "");

}  // namespace cronlatch::op
