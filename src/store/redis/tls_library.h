// SPDX-License-Identifier: Apache-2.0
// OpenSSL with nothing in it but what a TLS client needs. The first look-up of an algorithm makes
// OpenSSL set up all of its kind, from ARIA to Whirlpool, which costs a short run as much as the
// handshake itself. Here the same code is offered through a provider that leaves the rest out
// (docs/decisions/0018). No openssl.cnf is read, no module loaded.
#pragma once

#include <openssl/types.h>

#include <memory>

namespace cronlatch::redis {

// Must outlive all that is made with it; one thread.
class TlsLibrary {
 public:
  // get() is nullptr afterwards when OpenSSL cannot be set up (out of memory). From any thread.
  TlsLibrary();
  OSSL_LIB_CTX* get() const { return context_.get(); }

 private:
  struct Deleter {
    void operator()(OSSL_LIB_CTX* context) const;
    void operator()(OSSL_PROVIDER* provider) const;
  };
  // In this order: a context does not let go of a provider that somebody has loaded.
  std::unique_ptr<OSSL_LIB_CTX, Deleter> context_;
  std::unique_ptr<OSSL_PROVIDER, Deleter> provider_;
};

}  // namespace cronlatch::redis
