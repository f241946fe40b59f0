// SPDX-License-Identifier: Apache-2.0
// OpenSSL with only the algorithms that a TLS client needs. The first lookup of an algorithm makes
// OpenSSL set up all algorithms of the same type, which costs a short run as much as the handshake.
// This library provides the same code through a provider without the others (docs/decisions/0018).
// No openssl.cnf is read and no module is loaded.
#pragma once

#include <openssl/types.h>

#include <memory>

namespace cronlatch::redis {

// Must outlive all objects that are created with it. One thread.
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
  // In this order: the provider must be unloaded before the context is freed.
  std::unique_ptr<OSSL_LIB_CTX, Deleter> context_;
  std::unique_ptr<OSSL_PROVIDER, Deleter> provider_;
};

}  // namespace cronlatch::redis
