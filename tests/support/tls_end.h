// SPDX-License-Identifier: Apache-2.0
// TlsEnd: the server's end of one TLS connection, without a socket: the caller moves the bytes.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "support/certificates.h"

namespace cronlatch::testing {

// A server context with this certificate.
std::shared_ptr<SSL_CTX> tls_server_context(const CertFiles& files);

class TlsEnd {
 public:
  explicit TlsEnd(SSL_CTX* context);
  // Takes bytes of the network; returns the plain bytes in them.
  std::string receive(const std::string& wire);
  // Bytes to send to the network: of the handshake, and the plain bytes in encrypted form.
  std::string send(const std::string& plain);

 private:
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  BIO* in_;   // of `ssl_`
  BIO* out_;  // of `ssl_`
};

}  // namespace cronlatch::testing
